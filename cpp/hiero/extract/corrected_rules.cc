#include "hiero/extract/corrected_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::vector<Symbol> symbols_of(Bytes code) {
  std::vector<Symbol> out;
  const std::byte* at = code.data();
  get_symbols(at, out);
  return out;
}

enum Feature : std::size_t { kPhraseFE, kPhraseEF, kRuleCount, kSingleton };
constexpr std::array<std::string_view, 4> kFeatures = {"PhraseFE", "PhraseEF", "RuleCount", "Singleton"};

}  // namespace

TrainedRules::TrainedRules(std::shared_ptr<const RuleTable> table) : table_(std::move(table)) {
  const LabelId label = table_->find_label("X");
  const std::vector<std::string> names = table_->feature_names();
  const auto dense = std::span(names).first(table_->dense_count());
  std::array<std::size_t, kFeatures.size()> places{};
  for (std::size_t k = 0; k < kFeatures.size(); ++k) {
    const auto place = std::ranges::find(dense, kFeatures[k]);
    if (place == dense.end() || label == kNoLabel) return;
    places[k] = static_cast<std::size_t>(place - dense.begin());
  }
  features_ = places;
  nonterminal_ = nonterminal(label);
}

NodeId TrainedRules::find(std::span<const Symbol> source, const Vocab& words) const {
  NodeId node = features_ ? RuleTable::kRoot : RuleTable::kNoNode;
  for (const Symbol symbol : source) {
    if (node == RuleTable::kNoNode) break;
    const Symbol own = is_nonterminal(symbol) ? nonterminal_ : table_->find_word(words[symbol]);
    node = own == kNoWord ? RuleTable::kNoNode : table_->child(node, own);
  }
  return node;
}

double TrainedRules::feature(RuleId rule, std::size_t which) const {
  return table_->dense(rule, 1)[(*features_)[which]];
}

double TrainedRules::source_count(NodeId node) const {
  if (node == RuleTable::kNoNode || table_->groups(node).empty()) return 0;
  const RuleId rule = table_->groups(node).front().first_rule;
  return std::exp(feature(rule, kRuleCount) - feature(rule, kPhraseEF));
}

TrainedCount TrainedRules::count(NodeId node, std::span<const Symbol> target, const Vocab& words) const {
  if (node == RuleTable::kNoNode) return {};
  std::vector<Symbol> own;
  for (const Symbol symbol : target) {
    own.push_back(is_nonterminal(symbol) ? symbol : table_->find_word(words[symbol]));
    if (own.back() == kNoWord) return {};
  }
  RuleRecord record;
  for (const RuleGroup& group : table_->groups(node)) {
    for (RuleId rule = group.first_rule; rule < group.first_rule + group.count; ++rule) {
      table_->record(rule, record);
      if (record.target != own) continue;
      const double count = feature(rule, kRuleCount);
      return {std::exp(count), feature(rule, kSingleton) != 0 ? 1u : 2u,
              std::exp(count - feature(rule, kPhraseFE))};
    }
  }
  return {};
}

CorrectedRules::CorrectedRules(std::shared_ptr<const CountsFile> words,
                               std::shared_ptr<const RuleTable> table, const ExtractOptions& options)
    : trained_words_(std::move(words)),
      trained_rules_(std::move(table)),
      extractor_(options),
      words_(&trained_words_->words()),
      lexicon_(&trained_words_->lexicon()) {}

void CorrectedRules::add(std::span<const std::string> source, std::span<const std::string> target,
                         std::vector<AlignmentLink> links) {
  const auto order = [](const AlignmentLink& link) { return std::pair(link.source, link.target); };
  for (const AlignmentLink& link : links) {
    if (link.source >= source.size() || link.target >= target.size())
      throw std::out_of_range("links: a link points beyond a sentence");
  }
  std::ranges::sort(links, {}, order);
  const auto repeated = std::ranges::unique(links, {}, order);
  links.erase(repeated.begin(), repeated.end());
  AlignedPair pair;
  for (const std::string& word : source) pair.source.push_back(words_.intern(word));
  for (const std::string& word : target) pair.target.push_back(words_.intern(word));
  pair.links = std::move(links);
  lexicon_.add(pair);
  extractor_.extract(pair, [this](Bytes key, std::size_t target_size, const RuleCount& occurrence) {
    count(key, target_size, occurrence);
  });
}

// Counts an occurrence with a key of RuleExtractor.
void CorrectedRules::count(Bytes key, std::size_t target_size, const RuleCount& occurrence) {
  const Bytes target_code = key.first(target_size);
  const Bytes rest = key.subspan(target_size);
  const std::byte* const links = skip_symbols(rest.data(), rest.data() + rest.size());
  Source& source = source_of({rest.data(), links});
  source.shares = sum_of_shares(source.shares, occurrence.shares);
  std::uint64_t& target_shares = target_shares_[text_of(target_code)];
  target_shares = sum_of_shares(target_shares, occurrence.shares);
  auto target = std::ranges::find_if(
      source.targets, [&](const Target& one) { return std::ranges::equal(one.code, target_code); });
  if (target == source.targets.end()) {
    const TrainedCount trained = trained_rules_.count(source.node, symbols_of(target_code), words_);
    source.targets.push_back({{target_code.begin(), target_code.end()}, {0, 0}, trained, {}});
    target = source.targets.end() - 1;
    ++size_;
  }
  target->count.shares = sum_of_shares(target->count.shares, occurrence.shares);
  target->count.occurrences += occurrence.occurrences;
  const std::string coded_links = text_of({links, rest.data() + rest.size()});
  const auto same =
      std::ranges::find(target->links, coded_links, &std::pair<std::string, std::uint64_t>::first);
  if (same != target->links.end())
    same->second += occurrence.occurrences;
  else
    target->links.emplace_back(coded_links, occurrence.occurrences);
}

CorrectedRules::Source& CorrectedRules::source_of(Bytes code) {
  const auto [place, is_new] = by_code_.try_emplace(text_of(code), sources_.size());
  if (is_new) {
    Source& source = sources_.emplace_back();
    source.code.assign(code.begin(), code.end());
    const std::vector<Symbol> symbols = symbols_of(code);
    std::ranges::copy_if(symbols, std::back_inserter(source.words),
                         [](Symbol symbol) { return !is_nonterminal(symbol); });
    source.node = trained_rules_.find(symbols, words_);
    source.trained_count = trained_rules_.source_count(source.node);
    by_word_[source.words.front()].push_back(place->second);  // every rule has a link, and so a word
  }
  return sources_[place->second];
}

std::vector<CountedRule> CorrectedRules::rules_for(std::span<const std::string> sentence) const {
  std::vector<WordId> words;
  std::unordered_set<WordId> present;
  for (const std::string& word : sentence) {
    const std::optional<WordId> id = words_.find(word);
    if (id && present.insert(*id).second) words.push_back(*id);
  }
  LexicalScorer lexical(lexicon_);
  std::vector<CountedRule> out;
  for (const WordId word : words) {
    const auto begun = by_word_.find(word);
    if (begun == by_word_.end()) continue;
    for (const std::size_t place : begun->second) {
      const Source& source = sources_[place];
      if (!std::ranges::all_of(source.words, [&](WordId other) { return present.contains(other); })) continue;
      for (const Target& target : source.targets) out.push_back(counted(source, target, lexical));
    }
  }
  return out;
}

CountedRule CorrectedRules::counted(const Source& source, const Target& target,
                                    LexicalScorer& lexical) const {
  const auto frequent = std::ranges::max_element(target.links, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  CountedRule out{side_tokens(words_, source.code, true),
                  side_tokens(words_, target.code, false),
                  {},
                  target.count,
                  source.shares,
                  target_shares_.at(text_of(target.code)),
                  {},
                  target.trained,
                  source.trained_count};
  for (std::size_t i = 0; i < frequent->first.size(); i += 2) {
    out.links.push_back(
        {static_cast<unsigned char>(frequent->first[i]), static_cast<unsigned char>(frequent->first[i + 1])});
  }
  out.lexical = lexical(symbols_of(source.code), symbols_of(target.code), out.links);
  return out;
}

}  // namespace hiero
