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

// A run of words in a pattern, and how many nonterminals stand before it.
struct Piece {
  std::size_t gaps = 0;
  std::span<const Symbol> words;
};

// Takes the next run off the pattern; one without words is all nonterminals.
Piece take_piece(std::span<const Symbol>& pattern) {
  Piece piece;
  while (piece.gaps < pattern.size() && is_nonterminal(pattern[piece.gaps])) ++piece.gaps;
  std::size_t end = piece.gaps;
  while (end < pattern.size() && !is_nonterminal(pattern[end])) ++end;
  piece.words = pattern.subspan(piece.gaps, end - piece.gaps);
  pattern = pattern.subspan(end);
  return piece;
}

// Where the rest of a pattern ends at the earliest if it begins at `at`; beyond the sentence if it does not
// fit.
std::size_t earliest_end(std::span<const WordId> sentence, std::size_t at, std::span<const Symbol> rest) {
  while (!rest.empty()) {
    const Piece piece = take_piece(rest);
    at += piece.gaps;
    if (piece.words.empty() || at > sentence.size()) return at;
    const auto found = std::search(sentence.begin() + static_cast<std::ptrdiff_t>(at), sentence.end(),
                                   piece.words.begin(), piece.words.end());
    if (found == sentence.end()) return sentence.size() + 1;
    at = static_cast<std::size_t>(found - sentence.begin()) + piece.words.size();
  }
  return at;
}

}  // namespace

bool PatternIndex::matches(std::uint32_t sentence, std::span<const Symbol> pattern,
                           std::uint32_t max_span) const {
  const std::span<const WordId> words(words_.data() + starts_[sentence],
                                      starts_[sentence + 1] - starts_[sentence]);
  const std::size_t limit = max_span > 0 ? max_span : words.size();
  const Piece first = take_piece(pattern);
  if (first.words.empty()) return first.gaps <= std::min(words.size(), limit);
  // The first words may stand anywhere; what follows then ends as early as it can, which is never worse.
  for (std::size_t at = first.gaps; at + first.words.size() <= words.size(); ++at) {
    // Mostly the first word differs already, which is told sooner than memcmp is called.
    if (words[at] != first.words[0] ||
        !std::ranges::equal(first.words, words.subspan(at, first.words.size())))
      continue;
    const std::size_t begin = at - first.gaps;
    const auto window = words.first(begin + std::min(limit, words.size() - begin));
    if (earliest_end(window, at + first.words.size(), pattern) <= window.size()) return true;
    if (window.size() == words.size()) return false;  // nor from any later start
  }
  return false;
}

}  // namespace hiero
