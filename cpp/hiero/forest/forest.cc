#include "hiero/forest/forest.h"

#include <utility>

namespace hiero {

Forest with_origins(const Forest& forest, Hypergraph made) {
  std::vector<std::int32_t> rows;
  rows.reserve(made.edge_origins.size());
  for (const EdgeIndex e : made.edge_origins) rows.push_back(forest.row_of(e));
  return {std::make_shared<const Hypergraph>(std::move(made)), forest.rows, std::move(rows),
          forest.feature_names};
}

}  // namespace hiero
