#include "hiero/forest/validate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "hiero/base/error.h"

namespace hiero {
namespace {

[[noreturn]] void fail(const std::string& what) { throw ForestError("forest: " + what); }

std::string item(const char* kind, std::size_t index) {
  return std::string(kind) + " " + std::to_string(index);
}

// Checks offsets of `count` rows in an array of `total` entries.
void check_offsets(const std::vector<std::int32_t>& offsets, std::size_t count, std::size_t total,
                   const char* name) {
  if (offsets.size() != count + 1) {
    fail(std::string(name) + ": expected " + std::to_string(count + 1) + " entries, found " +
         std::to_string(offsets.size()));
  }
  if (offsets.front() != 0 || static_cast<std::size_t>(offsets.back()) != total) {
    fail(std::string(name) + ": expected to go from 0 to " + std::to_string(total) + ", found " +
         std::to_string(offsets.front()) + " to " + std::to_string(offsets.back()));
  }
  const auto falls = std::ranges::adjacent_find(offsets, std::ranges::greater());
  if (falls != offsets.end())
    fail(item(name, static_cast<std::size_t>(falls - offsets.begin())) + ": offsets fall");
}

void check_size(std::size_t size, std::size_t expected, const char* name) {
  if (size == expected) return;
  fail(std::string(name) + ": expected " + std::to_string(expected) + " entries, found " +
       std::to_string(size));
}

template <class T>
void check_range(const std::vector<T>& values, std::int64_t least, std::size_t past, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < least || (values[i] >= 0 && static_cast<std::uint64_t>(values[i]) >= past))
      fail(item(name, i) + ": index " + std::to_string(values[i]) + " is out of range");
  }
}

void check_nodes(const Hypergraph& forest) {
  const std::size_t nodes = forest.node_labels.size();
  const std::size_t edges = forest.edge_tables.size();
  check_offsets(forest.edge_offsets, nodes, edges, "edge_offsets");
  for (std::size_t v = 0; v < nodes; ++v) {
    if (forest.edge_offsets[v] == forest.edge_offsets[v + 1]) fail(item("node", v) + " has no edges");
    const std::int32_t begin = forest.node_spans[2 * v];
    if (begin < 0 || forest.node_spans[2 * v + 1] < begin) fail(item("node", v) + ": span out of order");
  }
  check_range(forest.node_labels, -1, forest.labels.size(), "node_labels");
  // A chart has nodes even if nothing derives the sentence; its root is -1 then.
  if (forest.root != -1 && forest.root != static_cast<NodeIndex>(nodes) - 1)
    fail("the root must be the last node, or -1 of none");
}

void check_tails(const Hypergraph& forest) {
  check_offsets(forest.tail_offsets, forest.edge_tables.size(), forest.tails.size(), "tail_offsets");
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      for (const NodeIndex u : forest.edge_tails(e)) {
        if (u >= 0 && u < v) continue;
        fail(item("edge", static_cast<std::size_t>(e)) + ": tail " + std::to_string(u) +
             " does not come before its head, node " + std::to_string(v));
      }
    }
  }
}

// Checks that names differ, as strings are compared by the indices of their words.
void check_names(const std::vector<std::string>& names, const char* kind) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) fail(std::string(kind) + ": " + name + " stands there twice");
  }
}

void check_templates(const Hypergraph& forest) {
  const TargetTemplates& targets = *forest.targets;
  check_offsets(targets.offsets, static_cast<std::size_t>(std::max(targets.size(), 0)),
                targets.symbols.size(), "target_offsets");
  check_offsets(targets.link_offsets, static_cast<std::size_t>(targets.size()), targets.links.size() / 2,
                "link_offsets");
  if (targets.links.size() % 2 != 0) fail("links: expected pairs of positions");
  // arity[t]: number of tails that edges with this template must have.
  std::vector<std::size_t> arity;
  for (std::int32_t t = 0; t < targets.size(); ++t) {
    std::vector<std::size_t> used;
    const std::string where = item("target", static_cast<std::size_t>(t));
    for (std::int32_t i = targets.offsets[t]; i < targets.offsets[t + 1]; ++i) {
      const std::int32_t symbol = targets.symbols[i];
      if (symbol >= 0) {
        if (static_cast<std::size_t>(symbol) >= forest.words.size())
          fail(where + ": word " + std::to_string(symbol) + " is out of range");
        continue;
      }
      used.push_back(static_cast<std::size_t>(-(symbol + 1)));
    }
    std::ranges::sort(used);
    if (const auto twice = std::ranges::adjacent_find(used); twice != used.end())
      fail(where + ": uses tail " + std::to_string(*twice) + " twice");
    arity.push_back(used.empty() ? 0 : used.back() + 1);
    for (std::int32_t l = targets.link_offsets[t]; l < targets.link_offsets[t + 1]; ++l) {
      const std::int32_t position = targets.links[2 * l + 1];
      if (targets.links[2 * l] < 0 || position < 0 || position >= targets.offsets[t + 1] - targets.offsets[t])
        fail(where + ": a link points beyond it");
    }
  }
  check_range(forest.edge_targets, 0, arity.size(), "edge_targets");
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    if (arity[forest.edge_targets[e]] > forest.edge_tails(e).size())
      fail(item("edge", static_cast<std::size_t>(e)) + " has fewer tails than its target uses");
  }
}

void check_lattice(const Hypergraph& forest) {
  const TargetTemplates& targets = *forest.targets;
  check_size(targets.path_offsets.size(),
             forest.is_lattice() ? static_cast<std::size_t>(targets.size()) + 1 : 0, "path_offsets");
  if (!forest.is_lattice()) {
    check_size(targets.path.size(), 0, "path");
    return;
  }
  check_size(forest.source_nodes.size(), 2 * forest.source.size(), "source_nodes");
  for (std::size_t word = 0; word < forest.source.size(); ++word) {
    if (forest.source_nodes[2 * word] < 0 ||
        forest.source_nodes[2 * word + 1] <= forest.source_nodes[2 * word])
      fail(item("source_nodes", word) + ": not from a node to a later one");
  }
  check_offsets(targets.path_offsets, static_cast<std::size_t>(targets.size()), targets.path.size(),
                "path_offsets");
  check_range(targets.path, 0, forest.source.size(), "path");
}

}  // namespace

void validate_features(const Forest& forest) {
  const FeatureRows& rows = *forest.rows;
  const std::size_t edges = forest.graph->edge_tables.size();
  const std::size_t count =
      forest.edge_rows.empty() ? edges : std::max<std::size_t>(rows.offsets.size(), 1) - 1;
  check_offsets(rows.offsets, count, rows.ids.size(), "features");
  check_size(rows.values.size(), rows.ids.size(), "feature values");
  check_range(rows.ids, 0, forest.feature_names->size(), "features");
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    if (!std::isfinite(rows.values[i])) fail("a feature value is " + std::to_string(rows.values[i]));
  }
  if (!forest.edge_rows.empty()) {
    check_size(forest.edge_rows.size(), edges, "edge_rows");
    check_range(forest.edge_rows, 0, count, "edge_rows");
  }
}

void validate(const Forest& forest) {
  const Hypergraph& graph = *forest.graph;
  const std::size_t edges = graph.edge_tables.size();
  check_size(graph.node_spans.size(), 2 * graph.node_labels.size(), "node_spans");
  check_size(graph.edge_rules.size(), edges, "edge_rules");
  check_size(graph.edge_targets.size(), edges, "edge_targets");
  check_nodes(graph);
  check_tails(graph);
  check_names(graph.words, "words");
  check_range(graph.edge_tables, -1, graph.tables.size(), "edge_tables");
  check_templates(graph);
  check_lattice(graph);
  validate_features(forest);
}

void validate_annotations(const Hypergraph& forest) {
  if (!forest.edge_origins.empty())
    check_size(forest.edge_origins.size(), forest.edge_tables.size(), "edge_origins");
  check_range(forest.edge_origins, 0, std::size_t{1} << 31, "edge_origins");
  const std::int64_t order = forest.ngram_order;
  if (order < 0) fail("ngram_order: " + std::to_string(order) + " is negative");
  const auto words = static_cast<std::size_t>(order > 1 ? 2 * (order - 1) : 0);
  check_size(forest.node_boundaries.size(), words * forest.node_labels.size(), "node_boundaries");
  check_range(forest.node_boundaries, -1, forest.words.size(), "node_boundaries");
}

}  // namespace hiero
