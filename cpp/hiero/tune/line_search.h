// Line search through weight space (Och 2003): at weights w + gamma d, hypothesis i of a sentence scores
// b_i + gamma a_i with intercept b_i = h_i . w and slope a_i = h_i . d. The best hypotheses of a sentence as
// gamma grows are the upper envelope of its lines; the metric of a set changes only where the winner of some
// sentence does.
//
// How to use: line_search(offsets, intercepts, slopes), then add up the statistics of `first`, and walk
// through `changes`, replacing those of `from` by those of `to`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiero {

struct WinnerChanges {
  std::vector<std::int32_t> first;  // by sentence: the winner at gamma = -infinity; -1 without hypotheses
  // Changes in the order of gamma, then of sentences. Of three lines that meet in a point, the middle one
  // never wins.
  std::vector<double> gamma;
  std::vector<std::int32_t> from;
  std::vector<std::int32_t> to;
};

// Returns all changes of winners. Hypotheses of sentence s are offsets[s] to offsets[s + 1]. Of equal lines
// the first one wins, of parallel lines the higher one. Throws std::invalid_argument for arrays that do not
// fit or are not finite.
WinnerChanges line_search(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
                          std::span<const double> slopes);

}  // namespace hiero
