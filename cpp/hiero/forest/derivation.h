// Derivations of a forest, each the list of its edges in preorder, the children of an edge in tail order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/forest.h"

namespace hiero {

// A derivation with its score, and with the forest that it is of.
struct Derivation {
  std::shared_ptr<const Forest> forest;
  double score;
  std::vector<EdgeIndex> edges;
};

// Adds an edge to a derivation. Throws ForestError beyond 2^27 edges: where edges have the same tail several
// times, derivations may be exponentially longer than their forest is.
void extend_derivation(std::vector<EdgeIndex>& derivation, EdgeIndex edge);

// By node up to one of them, the total score of its best derivation and the edge that begins it, ties by edge
// index; -infinity and -1 where there is none of a score above that.
struct BestEdges {
  std::vector<double> scores;
  std::vector<EdgeIndex> edges;
};
BestEdges best_edges(const Hypergraph& forest, std::span<const double> scores, NodeIndex node);

// The derivation of a node that takes one edge at each, `edges` by node; empty where it has none (-1).
std::vector<EdgeIndex> derivation_of(const Hypergraph& forest, std::span<const EdgeIndex> edges,
                                     NodeIndex node);

// The derivation of best total score below `node`, ties by edge index; empty if there is none of a score
// above -infinity. Throws std::invalid_argument for scores that check_edge_values refuses.
std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node);

// Target words (indices into forest.words) of a derivation given in preorder.
std::vector<std::int32_t> yield_words(const Hypergraph& forest, std::span<const EdgeIndex> derivation);

// Alignment of a derivation of the whole sentence: pairs (source position, target position), sorted.
std::vector<std::pair<std::int32_t, std::int32_t>> alignment(const Hypergraph& forest,
                                                             std::span<const EdgeIndex> derivation);

// Sums of feature values along a derivation, as (feature, value) pairs sorted by feature.
std::vector<std::pair<std::int32_t, double>> feature_sums(const Forest& forest,
                                                          std::span<const EdgeIndex> derivation);

// Throws ForestError unless the edges are the preorder of a derivation of `node`.
void check_derivation(const Hypergraph& forest, NodeIndex node, std::span<const EdgeIndex> edges);

// How many derivations the root has. Throws ForestError beyond 2^(2^20): where edges have the same tail
// several times, their number may have exponentially many digits.
BigUnsigned derivation_count(const Hypergraph& forest);

// The sum of the values of its edges.
double total(std::span<const double> values, std::span<const EdgeIndex> derivation);

}  // namespace hiero
