// The hypergraph of a translation forest as flat arrays (CSR). Nodes are in topological order, tails before
// heads; the incoming edges of a node are contiguous. NumPy views the arrays without copying. Features of
// edges are separate, see forest.h.
//
// Nonterminals of an edge's target template are numbered by tail position: symbol -1 - i is the yield of
// tails[tail_offsets[e] + i], and symbols >= 0 are indices into `words`. A derivation is the list of its
// edges in preorder, the children of an edge in tail order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hiero {

using NodeIndex = std::int32_t;
using EdgeIndex = std::int32_t;

// Target templates, each with its word-alignment links (source, target token positions in the rule).
struct TargetTemplates {
  std::vector<std::int32_t> offsets;  // templates + 1
  std::vector<std::int32_t> symbols;
  std::vector<std::int32_t> link_offsets;  // templates + 1
  std::vector<std::int32_t> links;         // 2 per link
  // For a lattice, the source words that the rule of an edge with this template has, in order; else empty.
  std::vector<std::int32_t> path_offsets;  // templates + 1
  std::vector<std::int32_t> path;

  std::int32_t size() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> path_of(std::int32_t t) const {
    return {path.data() + path_offsets[t], path.data() + path_offsets[t + 1]};
  }
};

struct Hypergraph {
  // Nodes.
  std::vector<std::int32_t> node_spans;    // 2 per node: first source word, past-the-end; of a lattice, nodes
  std::vector<std::int32_t> node_labels;   // index into `labels`; -1 for the root above the goal items
  std::vector<std::int32_t> edge_offsets;  // nodes + 1: incoming edges of a node
  NodeIndex root = -1;                     // -1: no derivation of the whole sentence

  // Edges.
  std::vector<std::int32_t> tail_offsets;  // edges + 1
  std::vector<std::int32_t> tails;
  std::vector<std::int32_t> edge_tables;   // index into `tables`; -1 for the edges into the root
  std::vector<std::int64_t> edge_rules;    // rule id within its table, or -1
  std::vector<std::int32_t> edge_targets;  // target template

  std::shared_ptr<const TargetTemplates> targets;  // shared with hypergraphs made from this one
  // For a forest made from another: the original edge of each edge. Else empty.
  std::vector<EdgeIndex> edge_origins;

  // For an annotated forest, where all strings of a node begin and end with the same words: n of the n-grams
  // that can be counted (0: not annotated), and by node the first n - 1 and the last n - 1 words, filled up
  // with -1 behind and before. A string of fewer than n - 1 words is in both.
  std::int32_t ngram_order = 0;
  std::vector<std::int32_t> node_boundaries;  // 2 (n - 1) per node

  std::vector<std::string> source;
  // For a lattice, the nodes that each source word leads from and to, 2 per word, numbered topologically from
  // 0; else empty: a sentence is the lattice with one path.
  std::vector<std::int32_t> source_nodes;
  std::vector<std::string> words;
  std::vector<std::string> labels;
  std::vector<std::string> tables;  // owner names

  bool is_lattice() const { return !source_nodes.empty(); }
  // The number of source words, or of a lattice's last node.
  std::int32_t source_length() const;
  NodeIndex node_count() const { return static_cast<NodeIndex>(node_labels.size()); }
  EdgeIndex edge_count() const { return static_cast<EdgeIndex>(edge_tables.size()); }
  std::span<const std::int32_t> edge_tails(EdgeIndex e) const {
    return {tails.data() + tail_offsets[e], tails.data() + tail_offsets[e + 1]};
  }
  std::span<const std::int32_t> template_of(EdgeIndex e) const {
    const std::int32_t t = edge_targets[e];
    return {targets->symbols.data() + targets->offsets[t], targets->symbols.data() + targets->offsets[t + 1]};
  }
  std::span<const std::int32_t> boundaries_of(NodeIndex v) const {
    const std::size_t size = ngram_order > 1 ? 2 * static_cast<std::size_t>(ngram_order - 1) : 0;
    return {node_boundaries.data() + static_cast<std::size_t>(v) * size, size};
  }
};

// Converts the size of an array to an offset, which has 32 bits as in scipy's matrices. Throws ForestError
// beyond 2^31 - 1 entries.
std::int32_t array_offset(std::size_t size);

// Tells whether the target of an edge omits its i-th tail.
bool omits_tail(const Hypergraph& forest, EdgeIndex edge, std::size_t i);

// Returns for each node 1 if a derivation can use it below a tail that a target omits, where it yields
// nothing.
std::vector<std::uint8_t> silent_nodes(const Hypergraph& forest);

// Returns the head node of an edge.
NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge);

// Returns the source side of an edge into this node: positions of source words, and -1 - i for tail i.
std::vector<std::int32_t> source_side(const Hypergraph& forest, NodeIndex head, EdgeIndex edge);

}  // namespace hiero
