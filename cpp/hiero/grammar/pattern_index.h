// Sentences, and which of them a rule side can match: words in order, each nonterminal standing for at least
// one word, anything before and after.
//
// How to use: index.add(words) for every sentence; then index.rarest(pattern) names the word to look for and
// index.sentences_with(word) the sentences that can match at all; index.matches(sentence, pattern) decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

class PatternIndex {
 public:
  void add(std::span<const WordId> words);
  std::uint32_t size() const { return static_cast<std::uint32_t>(starts_.size() - 1); }

  // In ascending order.
  std::span<const std::uint32_t> sentences_with(WordId word) const;
  // The word of a pattern that the fewest sentences hold; kNoWord if it has none.
  WordId rarest(std::span<const Symbol> pattern) const;
  // `max_span` bounds the words that the whole pattern may stand for; 0: any number.
  bool matches(std::uint32_t sentence, std::span<const Symbol> pattern, std::uint32_t max_span) const;

 private:
  std::vector<WordId> words_;  // of all sentences
  std::vector<std::size_t> starts_ = {0};
  std::vector<std::vector<std::uint32_t>> sentences_;  // by word
};

}  // namespace hiero
