// Splits the nodes of a forest by the first and last words of their strings, so that every n-gram of a
// derivation can be counted at one edge; see ngrams.h.
#pragma once

#include <cstdint>
#include <span>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct AnnotateOptions {
  std::int64_t max_edges = 20'000'000;
  // Number of variants to keep of each node, by best inside score; 0: all, which is exact. Needs `scores`.
  std::int32_t beam = 0;
  std::span<const double> scores;
};

// Splits nodes until all strings of a node have the same first and last n - 1 words. Derivations, their
// scores and strings stay the same; `edge_origins` gives the original edges. The root is not split and has no
// boundaries. Throws ForestError for more than max_edges edges, std::invalid_argument for scores that
// check_edge_values refuses or n outside 1 to 100.
Hypergraph annotate_ngrams(const Hypergraph& forest, std::int32_t n, const AnnotateOptions& options);

}  // namespace hiero
