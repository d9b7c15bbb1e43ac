// Which hypotheses win along a line through weight space (Och 2003): at weights w + gamma d, hypothesis i of
// a sentence scores b_i + gamma a_i with intercept b_i = h_i . w and slope a_i = h_i . d. The best of a
// sentence as gamma grows is the upper envelope of its lines; the metric of a set changes only where some
// sentence's winner does.
//
// How to use: line_search(offsets, intercepts, slopes), then add up the statistics of `first`, and walk
// through `changes`, replacing those of `from` by those of `to`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiero {

struct WinnerChanges {
  std::vector<std::int32_t> first;  // per sentence: the winner at gamma = -infinity; -1 without hypotheses
  // In the order of gamma, then of sentences. Of three lines that meet in a point the middle one never wins.
  std::vector<double> gamma;
  std::vector<std::int32_t> from;
  std::vector<std::int32_t> to;
};

// Hypotheses of sentence s are offsets[s] to offsets[s + 1]. Of lines that are equal the first wins, of
// parallel ones the higher. Throws std::invalid_argument for arrays that do not fit or are not finite.
WinnerChanges line_search(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
                          std::span<const double> slopes);

}  // namespace hiero
