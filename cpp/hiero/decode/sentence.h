// One input sentence in the terms of a model: which tables are consulted, the sentence's words in each
// table's numbering, and the rules that exist for this sentence alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiero/decode/local_features.h"
#include "hiero/decode/options.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

// Features that the rules of one sentence bring, and their weights.
using OwnWeights = std::vector<std::pair<std::string, double>>;

// What is to be translated.
struct SentenceInput {
  std::vector<std::string> tokens;
  std::vector<Rule> rules{};  // for this sentence alone
  OwnWeights own{};           // weights of features that only `rules` have
  std::shared_ptr<const Annotations> annotations{};
};

class Sentence {
 public:
  // Rules that pass words through are added to those of the input as `options` say. Throws FormatError for
  // rules that do not fit the model.
  Sentence(const TranslationModel& model, SentenceInput input, const DecoderOptions& options);

  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  // Null if there are none.
  const std::shared_ptr<const Annotations>& annotations() const { return annotations_; }
  // Positions of words that no rule of this word alone translates.
  const std::vector<std::uint32_t>& unknown() const { return unknown_; }

  bool has_own_rules() const { return own_ != nullptr; }
  // The model's tables and, last, the sentence's own if it has rules.
  std::size_t table_count() const { return tables_.size(); }
  const BoundTable& table(std::size_t t) const { return *tables_[t]; }
  // The sentence in table t's word ids; kNoWord where the table lacks the word.
  const std::vector<WordId>& words(std::size_t t) const { return words_[t]; }

  // Ranks of the model's labels by all unary rules, those of the sentence among them (label_order.h).
  std::span<const std::uint32_t> ranks() const { return own_ranks_.empty() ? model_.ranks() : own_ranks_; }

  // The text of a model word, or of a word this sentence brought.
  std::string_view word(WordId id) const;

 private:
  const TranslationModel& model_;
  std::vector<std::string> tokens_;
  std::shared_ptr<const Annotations> annotations_;
  std::vector<std::uint32_t> unknown_;
  std::unique_ptr<BoundTable> own_;
  std::vector<std::uint32_t> own_ranks_;  // empty: the model's
  std::vector<std::string_view> own_words_;
  std::vector<const BoundTable*> tables_;
  std::vector<std::vector<WordId>> words_;
};

}  // namespace hiero
