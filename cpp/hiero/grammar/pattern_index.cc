#include "hiero/grammar/pattern_index.h"

#include <algorithm>

namespace hiero {

void PatternIndex::add(std::span<const WordId> words) {
  const std::uint32_t sentence = size();
  for (const WordId word : words) {
    words_.push_back(word);
    if (word >= sentences_.size()) sentences_.resize(word + 1);
    if (sentences_[word].empty() || sentences_[word].back() != sentence) sentences_[word].push_back(sentence);
  }
  starts_.push_back(words_.size());
}

std::span<const std::uint32_t> PatternIndex::sentences_with(WordId word) const {
  return word < sentences_.size() ? sentences_[word] : std::span<const std::uint32_t>();
}

WordId PatternIndex::rarest(std::span<const Symbol> pattern) const {
  WordId best = kNoWord;
  for (const Symbol symbol : pattern) {
    if (is_nonterminal(symbol)) continue;
    if (best == kNoWord || sentences_with(symbol).size() < sentences_with(best).size()) best = symbol;
  }
  return best;
}

namespace {

// A run of words in a pattern, and the number of nonterminals before it.
struct WordRun {
  std::size_t nonterminals = 0;
  std::span<const Symbol> words;
};

// Removes the next run from the front of the pattern. A run without words is the last one.
WordRun take_word_run(std::span<const Symbol>& pattern) {
  WordRun run;
  while (run.nonterminals < pattern.size() && is_nonterminal(pattern[run.nonterminals])) ++run.nonterminals;
  std::size_t end = run.nonterminals;
  while (end < pattern.size() && !is_nonterminal(pattern[end])) ++end;
  run.words = pattern.subspan(run.nonterminals, end - run.nonterminals);
  pattern = pattern.subspan(end);
  return run;
}

// Returns the earliest position where the pattern can end if it begins at `begin`, or a position beyond the
// sentence if it does not match.
std::size_t earliest_end(std::span<const WordId> sentence, std::size_t begin,
                         std::span<const Symbol> pattern) {
  std::size_t end = begin;
  while (!pattern.empty()) {
    const WordRun run = take_word_run(pattern);
    end += run.nonterminals;
    if (run.words.empty() || end > sentence.size()) return end;
    const auto match = std::search(sentence.begin() + static_cast<std::ptrdiff_t>(end), sentence.end(),
                                   run.words.begin(), run.words.end());
    if (match == sentence.end()) return sentence.size() + 1;
    end = static_cast<std::size_t>(match - sentence.begin()) + run.words.size();
  }
  return end;
}

}  // namespace

bool PatternIndex::matches(std::uint32_t sentence, std::span<const Symbol> pattern,
                           std::uint32_t max_span) const {
  const std::span<const WordId> words(words_.data() + starts_[sentence],
                                      starts_[sentence + 1] - starts_[sentence]);
  const std::size_t limit = max_span > 0 ? max_span : words.size();
  const WordRun first = take_word_run(pattern);
  if (first.words.empty()) return first.nonterminals <= std::min(words.size(), limit);
  // Every position of the first run is tried. For each, it is enough to let the other runs end as early as
  // they can.
  for (std::size_t at = first.nonterminals; at + first.words.size() <= words.size(); ++at) {
    // In most cases the first word differs. This comparison is faster than a call of memcmp.
    if (words[at] != first.words[0] ||
        !std::ranges::equal(first.words, words.subspan(at, first.words.size())))
      continue;
    const std::size_t begin = at - first.nonterminals;
    const auto window = words.first(begin + std::min(limit, words.size() - begin));
    if (earliest_end(window, at + first.words.size(), pattern) <= window.size()) return true;
    if (window.size() == words.size()) return false;  // a later start cannot match either
  }
  return false;
}

}  // namespace hiero
