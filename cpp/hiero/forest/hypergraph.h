// A translation forest as flat arrays (CSR). Nodes are in topological order, tails before heads; the
// incoming edges of a node are contiguous. The arrays are handed to NumPy as they are.
//
// Nonterminals of an edge's target template are numbered by tail position: symbol -1 - i stands for the
// yield of tails[tail_offsets[e] + i], symbols >= 0 index `words`. A derivation is the list of its edges
// in preorder, the children of an edge in tail order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hiero {

using NodeIndex = std::int32_t;
using EdgeIndex = std::int32_t;

struct Hypergraph {
  // Nodes.
  std::vector<std::int32_t> node_spans;    // 2 per node: first source word, past-the-end
  std::vector<std::int32_t> node_labels;   // index into `labels`; -1 for the root above the goal items
  std::vector<std::int32_t> edge_offsets;  // nodes + 1: incoming edges of a node
  NodeIndex root = -1;                     // -1: no derivation of the whole sentence

  // Edges.
  std::vector<std::int32_t> tail_offsets;  // edges + 1
  std::vector<std::int32_t> tails;
  std::vector<std::int32_t> edge_tables;   // index into `tables`; -1 for the edges into the root
  std::vector<std::int64_t> edge_rules;    // rule id within its table, or -1
  std::vector<std::int32_t> edge_targets;  // target template

  // Target templates, each with its word-alignment links (source, target token positions in the rule).
  std::vector<std::int32_t> target_offsets;
  std::vector<std::int32_t> target_symbols;
  std::vector<std::int32_t> link_offsets;
  std::vector<std::int32_t> links;  // 2 per link

  // Edge-by-feature matrix in CSR form.
  std::vector<std::int32_t> feature_offsets;
  std::vector<std::int32_t> feature_ids;  // index into `feature_names`
  std::vector<double> feature_values;

  std::vector<std::string> source;
  std::vector<std::string> words;
  std::vector<std::string> labels;
  std::vector<std::string> tables;  // owner names
  std::shared_ptr<const std::vector<std::string>> feature_names;

  NodeIndex node_count() const { return static_cast<NodeIndex>(node_labels.size()); }
  EdgeIndex edge_count() const { return static_cast<EdgeIndex>(edge_tables.size()); }
  std::span<const std::int32_t> edge_tails(EdgeIndex e) const {
    return {tails.data() + tail_offsets[e], tails.data() + tail_offsets[e + 1]};
  }
  std::span<const std::int32_t> template_of(EdgeIndex e) const {
    const std::int32_t t = edge_targets[e];
    return {target_symbols.data() + target_offsets[t], target_symbols.data() + target_offsets[t + 1]};
  }
};

// weights . features for every edge. Throws std::invalid_argument unless there is a weight per feature.
std::vector<double> edge_scores(const Hypergraph& forest, std::span<const double> weights);

// The derivation of best total score below `node`, ties by edge index; empty if there is none.
std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node);

// Target words (indices into forest.words) of a derivation given in preorder.
std::vector<std::int32_t> yield_words(const Hypergraph& forest, std::span<const EdgeIndex> derivation);

// Alignment of a derivation of the whole sentence: pairs (source position, target position), sorted.
std::vector<std::pair<std::int32_t, std::int32_t>> alignment(const Hypergraph& forest,
                                                             std::span<const EdgeIndex> derivation);

// Sums of feature values along a derivation, as (feature, value) pairs sorted by feature.
std::vector<std::pair<std::int32_t, double>> feature_sums(const Hypergraph& forest,
                                                          std::span<const EdgeIndex> derivation);

// The head node of an edge.
NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge);

// Number of derivations below the root, as a double (exact up to 2^53).
double derivation_count(const Hypergraph& forest);

}  // namespace hiero
