// An automaton over the n-grams of references: its state is the longest suffix of the words read so far, of
// up to n words, that occurs in a reference. As all suffixes of that suffix occur in the reference too, the
// depth of the state gives all matches that end at the last word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/metrics/bleu.h"

namespace hiero {

class ReferenceAutomaton {
 public:
  using State = std::int32_t;
  static constexpr State kStart = 0;

  // Words are indices into `words`.
  ReferenceAutomaton(std::span<const std::string> words,
                     std::span<const std::vector<std::string>> references);

  State next(State state, std::int32_t word) const {
    const std::int32_t column = column_[static_cast<std::size_t>(word)];
    return column < 0 ? kStart
                      : table_[static_cast<std::size_t>(state) * columns_ + static_cast<std::size_t>(column)];
  }
  // Returns the number of words in the suffix.
  std::size_t depth(State state) const { return depth_[static_cast<std::size_t>(state)]; }
  // Returns the state that keeps the last n - 1 words only.
  State shorten(State state) const { return shorter_[static_cast<std::size_t>(state)]; }

 private:
  std::vector<std::int32_t> column_;  // by word; -1: in no reference
  std::size_t columns_ = 0;
  std::vector<State> table_;  // (states, columns)
  std::vector<std::uint8_t> depth_;
  std::vector<State> suffix_;  // the longest proper suffix that is a state
  std::vector<State> shorter_;
};

}  // namespace hiero
