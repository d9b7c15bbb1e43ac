#include "hiero/forest/forest.h"

#include <utility>

namespace hiero {

Forest with_origins(const Forest& forest, Hypergraph graph) {
  std::vector<std::int32_t> rows;
  rows.reserve(graph.edge_origins.size());
  for (const EdgeIndex e : graph.edge_origins) rows.push_back(forest.row_of(e));
  return {std::make_shared<const Hypergraph>(std::move(graph)), forest.rows, std::move(rows),
          forest.feature_names};
}

}  // namespace hiero
