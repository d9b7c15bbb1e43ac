// The part of TranslationModel that binds the rules of single sentences.
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "hiero/base/error.h"
#include "hiero/decode/translation_model.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

// Returns the most source words that one of `rules` may span in a sentence: if it has a nonterminal, those of
// `limit`, or any number for 0. Rules with words that the sentence lacks are ignored, as large spans cost
// time and memory.
std::uint32_t longest_span(const std::vector<Rule>& rules, const std::vector<std::string>& tokens,
                           std::uint32_t limit) {
  const std::unordered_set<std::string_view> words(tokens.begin(), tokens.end());
  const auto can_match = [&](const RuleToken& token) {
    return token.is_nonterminal() || words.contains(token.text);
  };
  std::size_t longest = 1;
  for (const Rule& rule : rules) {
    if (!std::ranges::all_of(rule.source, can_match)) continue;
    const bool has_gap = std::ranges::any_of(rule.source, &RuleToken::is_nonterminal);
    if (has_gap && limit == 0) return ~std::uint32_t{0};
    longest = std::max<std::size_t>(longest, has_gap ? limit : rule.source.size());
  }
  return static_cast<std::uint32_t>(longest);
}

}  // namespace

BoundTable TranslationModel::bind_sentence_rules(const std::vector<Rule>& rules,
                                                 const std::vector<std::string>& tokens,
                                                 const SentenceWeights& extra,
                                                 std::uint32_t span_limit) const {
  BoundTable bound;
  bound.table = RuleTable::build(rules, "sentence", 0);
  bound.owner = "sentence";
  bound.name = "table sentence";
  bound.is_extracted = false;
  bound.span_limit = longest_span(rules, tokens, span_limit);
  bind_sentence_features(bound, extra);
  bind_sentence_labels(bound);
  // Words that the model lacks take the ids after its words, in the order of this table.
  WordId next = word_count();
  for (WordId w = 0; w < bound.table->word_count(); ++w) {
    const WordId id = find_word(bound.table->word(w));
    bound.words.push_back(id == kNoWord ? next++ : id);
  }
  bound.estimates = compute_rule_estimates(*bound.table, lms_);
  return bound;
}

void TranslationModel::bind_sentence_features(BoundTable& bound, const SentenceWeights& extra) const {
  for (const std::string& name : bound.table->feature_names(bound.owner)) {
    const std::uint32_t feature = sentence_feature(name, extra);
    if (feature <= word_penalty_)
      throw FormatError("sentence rules: feature " + name + " is one that the decoder computes itself");
    bound.features.push_back(feature);
  }
}

std::uint32_t TranslationModel::sentence_feature(const std::string& name,
                                                 const SentenceWeights& extra) const {
  const std::uint32_t feature = features_->find(name);
  if (feature != FeatureNames::kAbsent) return feature;
  const auto at = std::ranges::find(extra, name, &SentenceWeights::value_type::first);
  if (at == extra.end())
    throw FormatError("sentence rules: the model has no feature \"" + name + "\", and no weight is given");
  return static_cast<std::uint32_t>(features_->size()) + static_cast<std::uint32_t>(at - extra.begin());
}

// Looks up the model's labels, and checks that the rules fit its goal.
void TranslationModel::bind_sentence_labels(BoundTable& bound) const {
  for (const std::string& name : bound.table->labels()) {
    bound.labels.push_back(find_label(name));
    if (bound.labels.back() == kNoLabel) {
      throw FormatError("sentence rules: the model has no nonterminal [" + name + "]");
    }
  }
  for (const auto& use : bound.table->label_uses()) {
    if (is_goal(bound.labels[use.rhs])) {
      throw FormatError("sentence rules: the goal [" + labels_[bound.labels[use.rhs]] +
                        "] on a right-hand side");
    }
  }
  for (LabelId label : bound.table->lhs_labels()) bound.has_goal_rules |= is_goal(bound.labels[label]);
  if (bound.has_goal_rules && marked_goal_ != kNoLabel) {
    throw FormatError("sentence rules: rules of the goal [" + goal_name_ +
                      "], which the model's tables open with <s>");
  }
  number_labels(bound);
}

}  // namespace hiero
