// The n-grams of references that arise at each edge of an annotated forest. Their sums over a derivation are
// the counts of its string (Tromble et al. 2008; Chiang et al. 2008, section 2.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct NgramMatches {
  // (edges, n) row by row: numbers of n-grams of 1, 2, ... words that arise at an edge, and of those that
  // occur in some reference, without clipping.
  std::vector<std::int32_t> totals;
  std::vector<std::int32_t> matches;
};

// Counts them. Throws std::invalid_argument if the forest is not annotated.
NgramMatches ngram_matches(const Hypergraph& forest, std::span<const std::vector<std::string>> references);

}  // namespace hiero
