#include "hiero/decode/sentence.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {

namespace {

constexpr std::string_view kUnknownMark = "_OOV";
std::string marked_as_unknown(const std::string& word) {
  // The mark of a token that is joined to the next must stay at its end.
  const size_t joined = word.size() > kJoined.size() && word.ends_with(kJoined) ? kJoined.size() : 0;
  std::string marked = word;
  return marked.insert(word.size() - joined, kUnknownMark);
}

Rule pass_through_rule(const std::string& label, const std::string& word, bool is_unknown,
                       UnknownWords unknown) {
  Rule rule{label, {{word, 0}}, {{word, 0}}, {}, {{0, 0}}};
  if (is_unknown) rule.features.emplace_back("OOV", 1.0f);
  if (is_unknown && unknown == UnknownWords::kMark) rule.target[0].text = marked_as_unknown(word);
  if (is_unknown && unknown == UnknownWords::kDrop) {
    rule.target.clear();
    rule.links.clear();
  }
  if (rule.target == rule.source) rule.features.emplace_back("Identity", 1.0f);
  return rule;
}

// Returns a rule as text that does not depend on the order of its features.
std::string rule_key(Rule rule) {
  std::ranges::sort(rule.features);
  return format_rule(rule);
}

}  // namespace

Sentence::Sentence(const TranslationModel& model, SentenceInput input, const DecoderOptions& options)
    : model_(model),
      tokens_(std::move(input.tokens)),
      annotations_(std::move(input.annotations)),
      hidden_(model, input.hidden),
      markup_(std::move(input.markup)),
      lattice_(std::move(input.lattice)),
      length_(size()) {
  check_markup(markup_, size());
  check_lattice(lattice_, size());
  if (lattice_.any()) number_nodes(input.weights);
  std::ranges::move(pass_through_rules(input.rules, options), std::back_inserter(input.rules));
  if (options.unknown_words != UnknownWords::kCopy) {
    for (const std::uint32_t position : unknown_) std::erase(markup_.kept, without_marks(tokens_[position]));
  }
  std::ranges::move(input.forced, std::back_inserter(input.rules));
  add_phrases(input.rules);
  for (const BoundTable& bound : model.tables()) tables_.push_back(&bound);
  const std::uint32_t span_limit = input.forced.empty() ? input.rule_span_limit : 0;
  if (!input.rules.empty()) bind_rules(input.rules, input.weights, span_limit);
  find_places();
  find_words();
}

// Makes rules for the words that pass through, and notes the unknown ones: words that neither the model nor
// one of `rules` translates.
std::vector<Rule> Sentence::pass_through_rules(const std::vector<Rule>& rules,
                                               const DecoderOptions& options) {
  std::unordered_set<std::string_view> translated;  // words that are the source side of one of `rules`
  for (const Rule& rule : rules) {
    if (rule.source.size() == 1 && !rule.source[0].is_nonterminal()) translated.insert(rule.source[0].text);
  }
  std::vector<Rule> out;
  std::unordered_set<std::string_view> passed;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::string& word = tokens_[i];
    const bool is_unknown =
        !translated.contains(word) && (!model_.translates(word) || hidden_.hides_all(word));
    if (is_unknown) unknown_.push_back(i);
    const bool is_kept =
        !markup_.kept.empty() && std::ranges::find(markup_.kept, without_marks(word)) != markup_.kept.end();
    const bool pass = is_kept || options.pass_through == PassThrough::kAll ||
                      (options.pass_through == PassThrough::kUnknown && is_unknown);
    if (!pass || !passed.insert(word).second) continue;
    for (LabelId label : model_.copy_labels())
      out.push_back(pass_through_rule(model_.labels()[label], word, is_unknown, options.unknown_words));
  }
  return out;
}

void Sentence::number_nodes(const SentenceWeights& weights) {
  if (!markup_.phrases.empty() || !markup_.zones.empty() || !markup_.walls.empty())
    throw std::invalid_argument("lattice: marks are of sentences that are one string");
  length_ = 0;
  for (const LatticeArc& arc : lattice_.arcs) length_ = std::max(length_, arc.end);
  std::uint32_t arc = 0;
  for (std::uint32_t node = 0; node <= length_; ++node) {
    while (arc < size() && lattice_.arcs[arc].begin < node) ++arc;
    first_arcs_.push_back(arc);
  }
  first_arcs_.push_back(size());
  for (std::size_t k = 0; k < lattice_.score_count; ++k)
    lattice_features_.push_back(model_.sentence_feature(lattice_feature(k), weights));
}

// Adds the rules of marked phrases, each once, and notes where they apply. Their words are not unknown.
void Sentence::add_phrases(std::vector<Rule>& rules) {
  std::vector<std::string> labels;
  for (const LabelId label : model_.copy_labels()) labels.push_back(model_.labels()[label]);
  for (const MarkedPhrase& phrase : markup_.phrases) {
    for (Rule& rule : phrase_rules(phrase, tokens_, labels)) {
      std::vector<SourceSpan>& spans = phrase_places_[rule_key(rule)];
      if (spans.empty()) rules.push_back(std::move(rule));
      spans.push_back(phrase.span);
    }
    std::erase_if(unknown_, [&](std::uint32_t position) { return phrase.span.contains(position); });
  }
}

void Sentence::find_places() {
  if (phrase_places_.empty()) return;
  const RuleTable& table = *rules_->table;
  const std::vector<std::string> names = table.feature_names(rules_->owner);
  for (RuleId rule = 0; rule < table.rule_count(); ++rule) {
    const auto at = phrase_places_.find(rule_key(table.rule(rule, names)));
    places_.push_back(at == phrase_places_.end() ? nullptr : &at->second);
  }
}

const std::vector<SourceSpan>* Sentence::places(std::size_t table, RuleId rule) const {
  return table == model_.tables().size() && !places_.empty() ? places_[rule] : nullptr;
}

void Sentence::bind_rules(const std::vector<Rule>& rules, const SentenceWeights& weights,
                          std::uint32_t span_limit) {
  rules_ = std::make_unique<BoundTable>(model_.bind_sentence_rules(rules, tokens_, weights, span_limit));
  tables_.push_back(rules_.get());
  if (std::ranges::any_of(rules_->table->label_uses(), &RuleTable::LabelUse::unary))
    ranks_ = model_.ranks_with(*rules_);
  for (WordId w = 0; w < rules_->words.size(); ++w) {
    if (rules_->words[w] >= model_.word_count()) extra_words_.push_back(rules_->table->word(w));
  }
}

void Sentence::find_words() {
  for (const BoundTable* bound : tables_) {
    std::vector<WordId>& ids = words_.emplace_back();
    for (const std::string& word : tokens_) {
      const bool is_mark = bound->has_marks && is_sentence_mark(word);
      ids.push_back(is_mark ? kNoWord : bound->table->find_word(word));
    }
  }
}

std::string_view Sentence::word(WordId id) const {
  return id < model_.word_count() ? model_.word(id) : extra_words_[id - model_.word_count()];
}

}  // namespace hiero
