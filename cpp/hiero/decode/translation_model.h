// The immutable part of decoding: rule tables bound to one numbering of labels, words, features and language
// model words, and the estimates that are precomputed per rule. Shared by all decoders and threads.
//
// How to use: fill a ModelParts, make a TranslationModel. It reads sentence marks as rules without them
// (sentence_marks.h), adds the glue table (unless a table has rules for the goal label), checks that labels
// have no unary cycle, and maps every table's words to every LM once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hiero/base/feature_names.h"
#include "hiero/base/symbol.h"
#include "hiero/decode/label_order.h"
#include "hiero/decode/local_features.h"
#include "hiero/decode/rule_estimates.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/lm/language_model.h"

namespace hiero {

// A rule table, and its numbers of words, labels and features in one model.
struct BoundTable {
  std::shared_ptr<const RuleTable> table;
  std::string owner;
  std::string name;                     // for messages: its path, or its owner
  std::uint32_t span_limit = 0;         // 0: that of DecoderOptions
  bool is_extracted = true;             // false for glue and per-sentence rules: no RulePenalty
  bool has_marks = false;               // its words <s> and </s> are marks, not words
  bool has_goal_rules = false;          // some left-hand side is a goal label
  bool has_rule_penalty = false;        // the table itself has a feature RulePenalty
  std::vector<std::uint32_t> features;  // table feature -> model feature
  std::vector<LabelId> labels;          // table label -> model label
  std::vector<LabelId> local_labels;    // model label -> table label or kNoLabel
  std::vector<WordId> words;            // table word -> model word; empty: the numbers are the same
  RuleEstimates estimates;

  WordId model_word(WordId word) const { return words.empty() ? word : words[word]; }
};

// Local features, which have consecutive indices in the model.
template <class Features>
struct FeatureBlock {
  std::shared_ptr<const Features> features;
  std::uint32_t first;  // index of the first
};

// All that a TranslationModel is made from; the Python class of the same name mirrors it.
struct ModelParts {
  struct Table {
    std::shared_ptr<const RuleTable> table;
    std::string owner;      // "": the table's own, or pt, pt1, ... in order
    std::string estimates;  // file made by save_rule_estimates(); "" or stale: computed
  };
  std::vector<Table> tables;
  std::vector<std::shared_ptr<const LanguageModel>> lms;
  std::vector<std::shared_ptr<const RuleFeatures>> rule_features;
  std::vector<std::shared_ptr<const SpanFeatures>> span_features;
  std::vector<std::shared_ptr<const GapFeatures>> gap_features;
  // Features that rules of single sentences may have besides those of the model; tables may have them too.
  std::vector<std::string> sentence_features;
  // The base of the logarithms that features are given in; 0: natural. Features of language models are
  // logarithms, and so are those named here; none named: those with the usual names of log-probabilities.
  double log_base = 0;
  std::vector<std::string> log_features;
  std::string goal;  // label of whole sentences; "": the label whose rules open them with <s>, or S
  std::vector<std::string> copy_labels;  // labels of copied words; none: X, or without an X every label
  std::vector<std::string> glue_labels;  // labels that glue rules are made for; none: every left-hand label
};

// Weights of features that the model lacks and the rules of one sentence have.
using SentenceWeights = std::vector<std::pair<std::string, double>>;

class TranslationModel {
 public:
  // Throws FormatError (unary cycles, clashing names) and what reading the tables throws.
  explicit TranslationModel(ModelParts parts);

  const std::vector<BoundTable>& tables() const { return tables_; }
  const std::vector<std::shared_ptr<const LanguageModel>>& lms() const { return lms_; }
  const std::vector<FeatureBlock<RuleFeatures>>& rule_features() const { return rule_features_; }
  const std::vector<FeatureBlock<SpanFeatures>>& span_features() const { return span_features_; }
  const std::vector<FeatureBlock<GapFeatures>>& gap_features() const { return gap_features_; }
  const FeatureNames& features() const { return *features_; }
  // The feature names as forests share them.
  std::shared_ptr<const FeatureNames> shared_features() const { return features_; }
  // The factor from natural logarithms to the values of a feature; 1 for features that are no logarithms.
  double scale(std::uint32_t feature) const { return feature < scales_.size() ? scales_[feature] : 1.0; }
  const std::vector<std::string>& labels() const { return labels_; }
  LabelId find_label(const std::string& name) const;
  // The label that whole sentences are derived from.
  LabelId goal() const { return goal_; }
  // The goal's name in the tables; differs from that of goal() if a table has sentence marks.
  const std::string& goal_name() const { return goal_name_; }
  // Whether rules of this label may span any length: the goal and, with sentence marks, the tables' goal.
  bool is_goal(LabelId label) const { return label == goal_ || label == marked_goal_; }
  // Ranks of labels by the unary rules of all tables (label_order.h).
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // Ranks of labels by these and the unary rules of one more table. Throws FormatError for a cycle.
  std::vector<std::uint32_t> ranks_with(const BoundTable& table) const;
  // Whether constituents with a goal label are useful only at the start of the sentence.
  bool goal_is_anchored() const { return goal_is_anchored_; }
  // Whether goal rules without a goal child follow <s> during search.
  bool goal_has_bos() const { return goal_has_bos_; }
  const std::vector<LabelId>& copy_labels() const { return copy_labels_; }

  std::uint32_t word_count() const { return static_cast<std::uint32_t>(base_words_ + extra_words_.size()); }
  std::string_view word(WordId id) const;
  WordId find_word(std::string_view text) const;
  // Whether some table has a rule whose source side is exactly this word, as it is written.
  bool translates(std::string_view word) const;

  // Binds rules made for the sentence `tokens`. They may have features that the model lacks if these are in
  // `extra`. Throws FormatError for an unknown label or feature, for the goal on a right-hand side, and for
  // rules of a goal that opens sentences with <s>.
  BoundTable bind_sentence_rules(const std::vector<Rule>& rules, const std::vector<std::string>& tokens,
                                 const SentenceWeights& extra, std::uint32_t span_limit) const;
  // Returns the index of a feature of the model or of `extra`, whose features are numbered from
  // features().size() on. Throws FormatError if both lack it.
  std::uint32_t sentence_feature(const std::string& name, const SentenceWeights& extra) const;

  // Indices of the features that the decoder itself computes.
  std::uint32_t lm_feature(std::size_t lm) const { return lm_features_[lm]; }
  std::uint32_t oov_feature(std::size_t lm) const { return oov_features_[lm]; }
  std::uint32_t word_penalty() const { return word_penalty_; }
  std::uint32_t rule_penalty() const { return rule_penalty_; }

 private:
  // By label: whether some rule has it on its left-hand side, and on its right-hand side.
  struct LabelUses {
    std::vector<char> is_lhs;
    std::vector<char> is_rhs;
  };

  void choose_scales(const ModelParts& parts);
  std::uint32_t add_local_names(const std::vector<std::string>& names);
  LabelId add_label(const std::string& name);
  void add_table(const std::shared_ptr<const RuleTable>& table, std::string owner,
                 const std::string& estimates);
  void read_marks(const std::string& goal);
  void add_made_table(const std::vector<Rule>& rules, const std::string& owner);
  void add_glue(const ModelParts& parts);
  LabelUses find_label_uses();
  std::vector<Rule> glue_rules(const std::vector<std::string>& names,
                               const std::vector<char>& is_derived) const;
  void choose_copy_labels(const std::vector<std::string>& names, const LabelUses& uses);
  void bind_names(BoundTable& bound);
  void bind_words(BoundTable& bound);
  void number_labels(BoundTable& bound) const;
  void bind_sentence_features(BoundTable& bound, const SentenceWeights& extra) const;
  void bind_sentence_labels(BoundTable& bound) const;
  std::vector<UnaryArc> unary_arcs() const;

  std::vector<BoundTable> tables_;
  std::vector<std::shared_ptr<const LanguageModel>> lms_;
  std::vector<FeatureBlock<RuleFeatures>> rule_features_;
  std::vector<FeatureBlock<SpanFeatures>> span_features_;
  std::vector<FeatureBlock<GapFeatures>> gap_features_;
  std::shared_ptr<FeatureNames> features_ = std::make_shared<FeatureNames>();
  std::vector<double> scales_;  // by feature; empty: all are 1
  std::vector<std::string> labels_;
  std::unordered_map<std::string, LabelId> label_index_;
  std::vector<std::uint32_t> ranks_;
  std::vector<LabelId> copy_labels_;
  LabelId goal_ = 0;
  LabelId marked_goal_ = kNoLabel;
  std::string goal_name_;
  bool goal_is_anchored_ = true;
  bool goal_has_bos_ = false;
  std::size_t base_words_ = 0;
  std::vector<std::string> extra_words_;
  std::unordered_map<std::string, WordId> extra_index_;
  std::vector<std::uint32_t> lm_features_;
  std::vector<std::uint32_t> oov_features_;
  std::uint32_t word_penalty_ = 0;
  std::uint32_t rule_penalty_ = 0;
};

}  // namespace hiero
