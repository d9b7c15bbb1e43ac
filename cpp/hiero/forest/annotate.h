// Splits the nodes of a forest by how their strings begin and end, so that every n-gram can be told at one
// edge; see ngrams.h.
#pragma once

#include <cstdint>
#include <span>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct AnnotateOptions {
  std::int64_t max_edges = 20'000'000;
  // Variants of a node that are kept, by best inside score; 0: all, which is exact. Wants `scores`.
  std::int32_t beam = 0;
  std::span<const double> scores;
};

// Splits nodes until each has one pair of boundaries of n - 1 words. Derivations, their scores and strings
// stay as they are; `edge_origins` says what edges were. The root is not split and has no boundaries. Throws
// ForestError where that takes too many edges, std::invalid_argument for bad scores or n not of 1 .. 100.
Hypergraph annotate_ngrams(const Hypergraph& forest, std::int32_t n, const AnnotateOptions& options);

}  // namespace hiero
