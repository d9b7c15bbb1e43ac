#include "hiero/decode/sentence.h"

#include <unordered_set>

namespace hiero {

Sentence::Sentence(const TranslationModel& model, std::vector<std::string> tokens,
                   const std::vector<Rule>& rules, PassThrough pass_through)
    : model_(model), tokens_(std::move(tokens)) {
  std::unordered_set<std::string_view> covered;  // single words that per-sentence rules translate
  for (const Rule& rule : rules) {
    if (rule.source.size() == 1 && !rule.source[0].is_nonterminal()) covered.insert(rule.source[0].text);
  }
  std::vector<Rule> own = rules;
  std::unordered_set<std::string_view> passed;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::string& word = tokens_[i];
    const bool is_unknown = !covered.contains(word) && !model.translates(word);
    if (is_unknown) unknown_.push_back(i);
    const bool pass =
        pass_through == PassThrough::kAll || (pass_through == PassThrough::kUnknown && is_unknown);
    if (!pass || !passed.insert(word).second) continue;
    for (LabelId label : model.pass_through_labels()) {
      Rule rule{model.labels()[label], {{word, 0}}, {{word, 0}}, {{"Identity", 1.0f}}, {{0, 0}}};
      if (is_unknown) rule.features.insert(rule.features.begin(), {"OOV", 1.0f});
      own.push_back(std::move(rule));
    }
  }
  for (const BoundTable& bound : model.tables()) tables_.push_back(&bound);
  if (!own.empty()) {
    own_ = std::make_unique<BoundTable>(model.bind_sentence_rules(own));
    tables_.push_back(own_.get());
    for (WordId w = 0; w < own_->words.size(); ++w) {
      if (own_->words[w] >= model.word_count()) own_words_.push_back(own_->table->word(w));
    }
  }
  for (const BoundTable* bound : tables_) {
    auto& ids = words_.emplace_back();
    for (const std::string& word : tokens_) ids.push_back(bound->table->find_word(word));
  }
}

std::string_view Sentence::word(WordId id) const {
  return id < model_.word_count() ? model_.word(id) : own_words_[id - model_.word_count()];
}

}  // namespace hiero
