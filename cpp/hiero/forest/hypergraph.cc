#include "hiero/forest/hypergraph.h"

#include <algorithm>

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

NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge) {
  const auto after = std::upper_bound(forest.edge_offsets.begin(), forest.edge_offsets.end(), edge);
  return static_cast<NodeIndex>(after - forest.edge_offsets.begin()) - 1;
}

}  // namespace hiero
