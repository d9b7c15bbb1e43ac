#include "hiero/forest/hypergraph.h"

#include <algorithm>
#include <span>

#include "hiero/base/error.h"

namespace hiero {
std::int32_t array_offset(std::size_t size) {
  if (size > 0x7FFFFFFF) throw ForestError("forest or list too large: over 2^31 - 1 array entries");
  return static_cast<std::int32_t>(size);
}

bool omits_tail(const Hypergraph& forest, EdgeIndex edge, std::size_t i) {
  const auto symbols = forest.template_of(edge);
  return std::ranges::find(symbols, -1 - static_cast<std::int32_t>(i)) == symbols.end();
}

std::vector<std::uint8_t> silent_nodes(const Hypergraph& forest) {
  std::vector<std::uint8_t> silent(forest.node_count(), 0);
  for (NodeIndex v = forest.node_count() - 1; v >= 0; --v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      const auto tails = forest.edge_tails(e);
      for (std::size_t i = 0; i < tails.size(); ++i) {
        if (silent[v] || omits_tail(forest, e, i)) silent[tails[i]] = 1;
      }
    }
  }
  return silent;
}

std::int32_t Hypergraph::source_length() const {
  std::int32_t last = 0;
  for (std::size_t at = 1; at < source_nodes.size(); at += 2) last = std::max(last, source_nodes[at]);
  return is_lattice() ? last : static_cast<std::int32_t>(source.size());
}

std::vector<std::int32_t> source_side(const Hypergraph& forest, NodeIndex head, EdgeIndex edge) {
  std::vector<std::int32_t> side;
  const auto tails = forest.edge_tails(edge);
  const std::int32_t end = forest.node_spans[2 * head + 1];
  std::span<const std::int32_t> path;
  if (forest.is_lattice()) path = forest.targets->path_of(forest.edge_targets[edge]);
  std::size_t tail = 0;
  std::size_t word = 0;
  for (std::int32_t at = forest.node_spans[2 * head]; at < end;) {
    if (tail < tails.size() && forest.node_spans[2 * tails[tail]] <= at) {
      at = std::max(at, forest.node_spans[2 * tails[tail] + 1]);
      side.push_back(-1 - static_cast<std::int32_t>(tail++));
    } else if (!forest.is_lattice() && at < static_cast<std::int32_t>(forest.source.size())) {
      side.push_back(at++);
    } else if (!forest.is_lattice() && tail < tails.size()) {
      at = forest.node_spans[2 * tails[tail]];  // there are fewer words than spans have
    } else if (word < path.size()) {
      side.push_back(path[word]);
      at = forest.source_nodes[2 * static_cast<std::size_t>(path[word++]) + 1];
    } else {
      break;  // the edge of a forest that was made otherwise
    }
  }
  return side;
}

NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge) {
  const auto after = std::upper_bound(forest.edge_offsets.begin(), forest.edge_offsets.end(), edge);
  return static_cast<NodeIndex>(after - forest.edge_offsets.begin()) - 1;
}

}  // namespace hiero
