// Derivations of a forest: lists of edges in preorder, the children of an edge in tail order. This file finds
// the best derivation, and reads from derivations their target words, word alignment, and sums over edges.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/forest.h"

namespace hiero {

// A derivation with its score and its forest.
struct Derivation {
  std::shared_ptr<const Forest> forest;
  double score;
  std::vector<EdgeIndex> edges;
};

// Appends an edge to a derivation. Throws ForestError beyond 2^27 edges: where edges have the same tail
// several times, a derivation can be exponentially longer than its forest.
void extend_derivation(std::vector<EdgeIndex>& derivation, EdgeIndex edge);

// For each node up to a given one, the score of its best derivation and the first edge of that derivation.
// Ties go to the smaller edge index; -infinity and -1 where no derivation scores above -infinity.
struct BestEdges {
  std::vector<double> scores;
  std::vector<EdgeIndex> edges;
};
BestEdges best_edges(const Hypergraph& forest, std::span<const double> scores, NodeIndex node);

// Returns the derivation of a node that takes the edge `edges[v]` at every node v; empty if edges[node] is
// -1.
std::vector<EdgeIndex> derivation_of(const Hypergraph& forest, std::span<const EdgeIndex> edges,
                                     NodeIndex node);

// Returns the derivation of `node` with the greatest sum of edge scores, ties by edge index; empty if none
// scores above -infinity, or if `node` is -1. Throws std::invalid_argument for scores that check_edge_values
// refuses, std::out_of_range for an unknown node.
std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node);

// Does the same, and adds the score. Returns nothing where viterbi returns an empty derivation.
std::optional<Derivation> best_derivation(const std::shared_ptr<const Forest>& forest,
                                          std::span<const double> scores, NodeIndex node);

// Returns the derivation of `node` with these edges, scored by the sum of their values in `scores`, or 0 if
// `scores` is empty. Throws ForestError as check_derivation does.
Derivation checked_derivation(const std::shared_ptr<const Forest>& forest, NodeIndex node,
                              std::vector<EdgeIndex> edges, std::span<const double> scores);

// Returns the target words of a derivation as indices into forest.words.
std::vector<std::int32_t> yield_words(const Hypergraph& forest, std::span<const EdgeIndex> derivation);

// Returns the strings of words that are given as indices into forest.words.
std::vector<std::string> tokens(const Hypergraph& forest, std::span<const std::int32_t> words);

// Returns the target words of a derivation as strings.
std::vector<std::string> yield_tokens(const Hypergraph& forest, std::span<const EdgeIndex> derivation);

// Returns the positions of the source words that a derivation translates, in order: those of the path that it
// takes through a lattice, or all.
std::vector<std::int32_t> source_path(const Hypergraph& forest, std::span<const EdgeIndex> derivation);

// Returns the word alignment of a derivation of the whole sentence: sorted pairs (source position, target
// position).
std::vector<std::pair<std::int32_t, std::int32_t>> alignment(const Hypergraph& forest,
                                                             std::span<const EdgeIndex> derivation);

// Sums feature values over derivations of a forest, which must outlive it.
class FeatureSums {
 public:
  using Sums = std::vector<std::pair<std::int32_t, double>>;

  explicit FeatureSums(const Forest& forest) : forest_(forest), places_(forest.feature_names->size(), -1) {}

  // Returns the (feature, value) pairs of a derivation, sorted by feature, which are valid until the next
  // call.
  const Sums& of(std::span<const EdgeIndex> derivation);

 private:
  const Forest& forest_;
  Sums sums_;
  std::vector<std::int32_t> places_;  // by feature: its place in sums_ while these are summed, else -1
};

// Sums feature values over one derivation, as FeatureSums does.
std::vector<std::pair<std::int32_t, double>> feature_sums(const Forest& forest,
                                                          std::span<const EdgeIndex> derivation);

// Throws ForestError unless the edges are the preorder of a derivation of `node`.
void check_derivation(const Hypergraph& forest, NodeIndex node, std::span<const EdgeIndex> edges);

// Counts the derivations of the root. Throws ForestError beyond 2^(2^20): where edges have the same tail
// several times, the number can have exponentially many digits.
BigUnsigned derivation_count(const Hypergraph& forest);

// Sums the values of a derivation's edges.
double total(std::span<const double> values, std::span<const EdgeIndex> derivation);

}  // namespace hiero
