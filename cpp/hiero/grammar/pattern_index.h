// An inverted index of sentences that finds those which a rule side matches: its words occur in order, each
// nonterminal stands for at least one word, and anything may come before and after.
//
// How to use:
//   1. index.add(words);                                  // every sentence
//   2. WordId word = index.rarest(pattern);               // the most selective word
//   3. for (auto s : index.sentences_with(word))          // only these can match
//        if (index.matches(s, pattern, 0)) ...
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

  // Returns the numbers of the sentences with this word, in ascending order.
  std::span<const std::uint32_t> sentences_with(WordId word) const;
  // Returns the word of the pattern that occurs in the fewest sentences, or kNoWord if it has no words.
  WordId rarest(std::span<const Symbol> pattern) const;
  // `max_span` is the maximum number of words that the whole pattern may span; 0: no limit.
  bool matches(std::uint32_t sentence, std::span<const Symbol> pattern, std::uint32_t max_span) const;

 private:
  std::vector<WordId> words_;                          // the words of all sentences
  std::vector<std::size_t> starts_ = {0};              // by sentence: its first word, in words_
  std::vector<std::vector<std::uint32_t>> sentences_;  // by word: the sentences with this word
};

}  // namespace hiero
