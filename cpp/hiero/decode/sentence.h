// One input sentence for a model: the tables that are consulted, the sentence's words in each table's
// numbering, and the rules that exist for this sentence alone, those that pass words through among them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiero/base/deadline.h"
#include "hiero/decode/hidden_rules.h"
#include "hiero/decode/local_features.h"
#include "hiero/decode/options.h"
#include "hiero/decode/source_lattice.h"
#include "hiero/decode/source_markup.h"
#include "hiero/decode/target_automaton.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

// A sentence to translate.
struct SentenceInput {
  std::vector<std::string> tokens;
  std::vector<Rule> rules{};  // for this sentence alone
  SentenceWeights weights{};  // of features that only `rules` have
  std::shared_ptr<const Annotations> annotations{};
  TargetConstraint constraint{};
  SourceMarkup markup{};
  SourceLattice lattice{};
  std::shared_ptr<const Deadline> deadline{};  // of the search; null: none
  std::vector<Rule> hidden{};                  // rules of the model that it is translated without
  std::uint32_t rule_span_limit = 0;           // most words of `rules` with nonterminals; 0: any number
  std::vector<Rule> forced{};  // these too, whose words count as unknown all the same (forced_prefix.h)
};

class Sentence {
 public:
  // Adds rules that pass words through to those of the input, as `options` say, and those of marked phrases.
  // Throws FormatError for rules that do not fit the model, and std::invalid_argument for wrong markup.
  Sentence(const TranslationModel& model, SentenceInput input, const DecoderOptions& options);

  // The number of words, or of arcs of a lattice.
  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }
  // The number of words, or of the last node of a lattice: where spans end.
  std::uint32_t length() const { return length_; }
  const SourceLattice& lattice() const { return lattice_; }
  // The arcs of a lattice that lead from a node are [first_arc(node), first_arc(node + 1)).
  std::uint32_t first_arc(std::uint32_t node) const { return first_arcs_[node]; }
  // The feature of each score of a lattice's arcs.
  const std::vector<std::uint32_t>& lattice_features() const { return lattice_features_; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  // Null if there are none.
  const std::shared_ptr<const Annotations>& annotations() const { return annotations_; }
  // Positions of words that no rule of this word alone translates.
  const std::vector<std::uint32_t>& unknown() const { return unknown_; }

  const HiddenRules& hidden() const { return hidden_; }
  const SourceMarkup& markup() const { return markup_; }
  // The only spans that a rule may translate, if it was made for marked phrases, or else null.
  const std::vector<SourceSpan>* places(std::size_t table, RuleId rule) const;

  bool has_rules() const { return rules_ != nullptr; }
  // The model's tables and, last, that of the sentence's rules if it has any.
  std::size_t table_count() const { return tables_.size(); }
  const BoundTable& table(std::size_t t) const { return *tables_[t]; }
  // The sentence in table t's word ids; kNoWord where the table lacks the word.
  const std::vector<WordId>& words(std::size_t t) const { return words_[t]; }

  // Ranks of the model's labels by the unary rules of all tables (label_order.h).
  std::span<const std::uint32_t> ranks() const { return ranks_.empty() ? model_.ranks() : ranks_; }

  // The text of a model word, or of a word that only the sentence's rules have.
  std::string_view word(WordId id) const;

 private:
  std::vector<Rule> pass_through_rules(const std::vector<Rule>& rules, const DecoderOptions& options);
  void number_nodes(const SentenceWeights& weights);
  void add_phrases(std::vector<Rule>& rules);
  void find_places();
  void bind_rules(const std::vector<Rule>& rules, const SentenceWeights& weights, std::uint32_t span_limit);
  void find_words();

  const TranslationModel& model_;
  std::vector<std::string> tokens_;
  std::shared_ptr<const Annotations> annotations_;
  HiddenRules hidden_;
  std::vector<std::uint32_t> unknown_;
  SourceMarkup markup_;
  SourceLattice lattice_;
  std::uint32_t length_;
  std::vector<std::uint32_t> first_arcs_;  // by node, and one more
  std::vector<std::uint32_t> lattice_features_;
  std::map<std::string, std::vector<SourceSpan>> phrase_places_;  // by rule, as text
  std::vector<const std::vector<SourceSpan>*> places_;            // by rule of the sentence; null: anywhere
  std::unique_ptr<BoundTable> rules_;                             // null if there are none
  std::vector<std::uint32_t> ranks_;                              // empty: the model's
  std::vector<std::string_view> extra_words_;                     // numbered from model_.word_count() on
  std::vector<const BoundTable*> tables_;
  std::vector<std::vector<WordId>> words_;
};

}  // namespace hiero
