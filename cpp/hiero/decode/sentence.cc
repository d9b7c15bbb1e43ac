#include "hiero/decode/sentence.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>

#include "hiero/grammar/rule_token.h"

namespace hiero {

namespace {

constexpr std::string_view kUnknownMark = "_OOV";

Rule pass_through_rule(const std::string& label, const std::string& word, bool is_unknown,
                       UnknownWords unknown) {
  Rule rule{label, {{word, 0}}, {{word, 0}}, {}, {{0, 0}}};
  if (is_unknown) rule.features.emplace_back("OOV", 1.0f);
  if (is_unknown && unknown == UnknownWords::kMark) rule.target[0].text += kUnknownMark;
  if (is_unknown && unknown == UnknownWords::kDrop) {
    rule.target.clear();
    rule.links.clear();
  }
  if (rule.target == rule.source) rule.features.emplace_back("Identity", 1.0f);
  return rule;
}

}  // namespace

Sentence::Sentence(const TranslationModel& model, SentenceInput input, const DecoderOptions& options)
    : model_(model), tokens_(std::move(input.tokens)), annotations_(std::move(input.annotations)) {
  std::unordered_set<std::string_view> covered;  // single words that per-sentence rules translate
  for (const Rule& rule : input.rules) {
    if (rule.source.size() == 1 && !rule.source[0].is_nonterminal()) covered.insert(rule.source[0].text);
  }
  std::vector<Rule> passing;
  std::unordered_set<std::string_view> passed;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::string& word = tokens_[i];
    const bool is_unknown = !covered.contains(word) && !model.translates(word);
    if (is_unknown) unknown_.push_back(i);
    const bool pass = options.pass_through == PassThrough::kAll ||
                      (options.pass_through == PassThrough::kUnknown && is_unknown);
    if (!pass || !passed.insert(word).second) continue;
    for (LabelId label : model.copy_labels()) {
      passing.push_back(pass_through_rule(model.labels()[label], word, is_unknown, options.unknown_words));
    }
  }
  std::vector<Rule>& own = input.rules;
  std::ranges::move(passing, std::back_inserter(own));
  for (const BoundTable& bound : model.tables()) tables_.push_back(&bound);
  if (!own.empty()) {
    std::vector<std::string> own_features;
    for (const auto& [name, weight] : input.own) own_features.push_back(name);
    own_ = std::make_unique<BoundTable>(model.bind_sentence_rules(own, tokens_, own_features));
    tables_.push_back(own_.get());
    if (std::ranges::any_of(own_->table->label_uses(), &RuleTable::LabelUse::unary))
      own_ranks_ = model.ranks_with(*own_);
    for (WordId w = 0; w < own_->words.size(); ++w) {
      if (own_->words[w] >= model.word_count()) own_words_.push_back(own_->table->word(w));
    }
  }
  for (const BoundTable* bound : tables_) {
    auto& ids = words_.emplace_back();
    for (const std::string& word : tokens_) {
      const bool is_mark = bound->has_marks && is_sentence_mark(word);
      ids.push_back(is_mark ? kNoWord : bound->table->find_word(word));
    }
  }
}

std::string_view Sentence::word(WordId id) const {
  return id < model_.word_count() ? model_.word(id) : own_words_[id - model_.word_count()];
}

}  // namespace hiero
