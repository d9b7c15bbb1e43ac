// A forest: a hypergraph with a row of features for each edge. Both are shared between forests: one
// hypergraph can have several sets of features, and hypergraphs made from it use the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hiero/base/feature_names.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

// A matrix (rows, features) in CSR form.
struct FeatureRows {
  std::vector<std::int32_t> offsets;  // rows + 1
  std::vector<std::int32_t> ids;      // index into the forest's `feature_names`
  std::vector<double> values;
};

struct Forest {
  std::shared_ptr<const Hypergraph> graph;
  std::shared_ptr<const FeatureRows> rows;
  std::vector<std::int32_t> edge_rows;  // by edge: its row; empty: edge e has row e
  std::shared_ptr<const FeatureNames> feature_names;

  // Algorithms that need no features take a hypergraph.
  operator const Hypergraph&() const { return *graph; }

  std::int32_t row_of(EdgeIndex e) const { return edge_rows.empty() ? e : edge_rows[e]; }
  std::span<const std::int32_t> feature_ids(EdgeIndex e) const {
    const std::int32_t row = row_of(e);
    return {rows->ids.data() + rows->offsets[row], rows->ids.data() + rows->offsets[row + 1]};
  }
  std::span<const double> feature_values(EdgeIndex e) const {
    const std::int32_t row = row_of(e);
    return {rows->values.data() + rows->offsets[row], rows->values.data() + rows->offsets[row + 1]};
  }
};

// Returns a forest of a hypergraph that was made from a forest's, with the features of its original edges.
Forest with_origins(const Forest& forest, Hypergraph graph);

}  // namespace hiero
