#include "hiero/align/link_lexicon.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "hiero/base/tokens.h"

namespace hiero {
namespace {

[[noreturn]] void throw_not_added() {
  throw std::invalid_argument("log odds of a sentence pair that was not added");
}

// Returns what a count of all pairs leaves for the others.
template <class Count>
Count without(Count all, Count own) {
  if (own > all) throw_not_added();
  return all - own;
}

}  // namespace

void LinkLexicon::add(std::string_view source, std::string_view target, std::string_view links) {
  std::vector<WordId>& f = source_sentence_.tokens;
  std::vector<WordId>& e = target_sentence_.tokens;
  intern(source, source_, f);
  intern(target, target_, e);
  links_.grow(target_.vocabulary.size());
  parse_alignment(links, f.size(), e.size(), pair_links_);
  for (const WordId word : f) ++source_.counts[word].tokens;
  for (const WordId word : e) ++target_.counts[word].tokens;
  source_.tokens += f.size();
  target_.tokens += e.size();
  for (const AlignmentLink& link : pair_links_) {
    ++source_.counts[f[link.source]].links;
    ++target_.counts[e[link.target]].links;
    links_.add(e[link.target], f[link.source], 1);
  }
}

void LinkLexicon::intern(std::string_view line, Side& side, std::vector<WordId>& tokens) {
  tokens.clear();
  for (std::string_view token = next_token(line); !token.empty(); token = next_token(line))
    tokens.push_back(side.vocabulary.intern(token));
  side.counts.resize(side.vocabulary.size());
}

double LinkLexicon::log_odds(std::string_view source, std::string_view target, std::string_view links) {
  find(source, source_, source_sentence_.tokens);
  find(target, target_, target_sentence_.tokens);
  parse_alignment(links, source_sentence_.tokens.size(), target_sentence_.tokens.size(), pair_links_);
  gather_words(source_sentence_);
  gather_words(target_sentence_);
  // From here on, links are between different words, and by target word.
  for (AlignmentLink& link : pair_links_) {
    link = {source_sentence_.which[link.source], target_sentence_.which[link.target]};
    ++source_sentence_.words[link.source].links;
    ++target_sentence_.words[link.target].links;
  }
  std::ranges::sort(pair_links_, {}, &AlignmentLink::target);
  compute_rates(source_, source_sentence_);
  compute_rates(target_, target_sentence_);
  sum_links();
  return (sum_of_logs(target_, target_sentence_, source_sentence_) +
          sum_of_logs(source_, source_sentence_, target_sentence_)) /
         2;
}

void LinkLexicon::find(std::string_view line, const Side& side, std::vector<WordId>& tokens) {
  tokens.clear();
  for (std::string_view token = next_token(line); !token.empty(); token = next_token(line)) {
    const std::optional<WordId> word = side.vocabulary.find(token);
    if (!word) throw_not_added();
    tokens.push_back(*word);
  }
}

void LinkLexicon::gather_words(Sentence& sentence) {
  std::vector<Word>& words = sentence.words;
  words.clear();
  for (const WordId id : sentence.tokens) words.push_back({.id = id});
  std::ranges::sort(words, {}, &Word::id);
  const auto copies = std::ranges::unique(words, {}, &Word::id);
  words.erase(copies.begin(), copies.end());
  sentence.which.clear();
  for (const WordId id : sentence.tokens) {
    const auto word = std::ranges::lower_bound(words, id, {}, &Word::id);
    ++word->tokens;
    sentence.which.push_back(static_cast<std::uint32_t>(word - words.begin()));
  }
}

void LinkLexicon::compute_rates(const Side& side, Sentence& sentence) {
  for (Word& word : sentence.words) {
    const std::uint64_t links = without(side.counts[word.id].links, std::uint64_t{word.links});
    word.rate = 1 / (static_cast<double>(links) + 1);
  }
}

// Adds up, for each word of both sentences, its counts of links with the words of the other one.
void LinkLexicon::sum_links() {
  auto link = pair_links_.begin();
  std::vector<std::uint32_t> own(source_sentence_.words.size());
  for (std::size_t t = 0; t < target_sentence_.words.size(); ++t) {
    std::ranges::fill(own, 0);
    for (; link != pair_links_.end() && link->target == t; ++link) ++own[link->source];
    Word& e = target_sentence_.words[t];
    const LinkRow row = links_.row(e.id);
    for (std::size_t s = 0; s < own.size(); ++s) {
      Word& f = source_sentence_.words[s];
      const double count = without(row.count(f.id), own[s]);
      e.sum += f.tokens * count * f.rate;
      f.sum += e.tokens * count * e.rate;
    }
  }
}

// Returns the sum of log p(e | F) / p(e) over the words of a sentence, where F are the words of the other
// one.
double LinkLexicon::sum_of_logs(const Side& side, const Sentence& sentence, const Sentence& other) {
  double unseen = 1;
  for (const Word& f : other.words) unseen += f.tokens * f.rate;
  const auto total = static_cast<double>(without(side.tokens, std::uint64_t{sentence.tokens.size()}));
  double sum = 0;
  for (const Word& e : sentence.words) {
    const std::uint64_t count = without(side.counts[e.id].tokens, std::uint64_t{e.tokens});
    if (count == 0) continue;
    const double ratio = unseen + e.sum * total / static_cast<double>(count);
    sum += e.tokens * std::log(ratio / static_cast<double>(other.tokens.size() + 1));
  }
  return sum;
}

}  // namespace hiero
