#include "hiero/forest/forest_arrays.h"

#include <algorithm>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/forest/validate.h"

namespace hiero {
namespace {

// Gives every edge the target template that joins the yields of its tails.
void join_tails(Hypergraph& forest, TargetTemplates& targets) {
  targets.offsets = {0};
  std::vector<std::int32_t> template_by_arity;
  forest.edge_targets.clear();
  for (std::size_t e = 0; e + 1 < forest.tail_offsets.size(); ++e) {
    const auto arity =
        static_cast<std::size_t>(std::max(forest.tail_offsets[e + 1] - forest.tail_offsets[e], 0));
    if (arity > forest.tails.size()) throw ForestError("forest: tail_offsets: out of range");
    if (arity >= template_by_arity.size()) template_by_arity.resize(arity + 1, -1);
    if (template_by_arity[arity] < 0) {
      template_by_arity[arity] = targets.size();
      for (std::size_t i = 0; i < arity; ++i) targets.symbols.push_back(-1 - static_cast<std::int32_t>(i));
      targets.offsets.push_back(static_cast<std::int32_t>(targets.symbols.size()));
    }
    forest.edge_targets.push_back(template_by_arity[arity]);
  }
}

// Returns an array, or so many equal values in its place.
template <class T>
std::vector<T> value_or(std::optional<std::vector<T>>& array, std::size_t count, T value) {
  return array ? std::move(*array) : std::vector<T>(count, value);
}

}  // namespace

std::shared_ptr<Forest> make_forest(ForestArrays arrays) {
  const std::size_t nodes = arrays.node_count();
  const std::size_t edges = arrays.edge_count();
  auto graph = std::make_shared<Hypergraph>();
  auto targets = std::make_shared<TargetTemplates>();
  graph->root = static_cast<NodeIndex>(nodes) - 1;
  graph->edge_offsets = std::move(arrays.edge_offsets);
  graph->tail_offsets = std::move(arrays.tail_offsets);
  graph->tails = std::move(arrays.tails);
  graph->node_spans = value_or(arrays.node_spans, 2 * nodes, 0);
  graph->node_labels = value_or(arrays.node_labels, nodes, -1);
  graph->edge_tables = value_or(arrays.edge_tables, edges, -1);
  graph->edge_rules = value_or(arrays.edge_rules, edges, std::int64_t{-1});
  graph->source = std::move(arrays.source);
  graph->source_nodes = std::move(arrays.source_nodes);
  graph->words = std::move(arrays.words);
  graph->labels = std::move(arrays.labels);
  graph->tables = std::move(arrays.tables);
  targets->offsets = std::move(arrays.target_offsets);
  targets->symbols = std::move(arrays.target_symbols);
  if (arrays.edge_targets)
    graph->edge_targets = std::move(*arrays.edge_targets);
  else
    join_tails(*graph, *targets);
  targets->link_offsets = value_or(arrays.link_offsets, std::max<std::size_t>(targets->offsets.size(), 1), 0);
  targets->links = std::move(arrays.links);
  targets->path_offsets = std::move(arrays.path_offsets);
  targets->path = std::move(arrays.path);
  graph->targets = std::move(targets);
  FeatureRows rows = arrays.features.value_or(FeatureRows{std::vector<std::int32_t>(edges + 1, 0), {}, {}});
  auto forest = std::make_shared<Forest>(Forest{
      std::move(graph), std::make_shared<FeatureRows>(std::move(rows)), {}, std::move(arrays.feature_names)});
  validate(*forest);
  return forest;
}

std::shared_ptr<Forest> with_features(const Forest& forest, FeatureRows rows,
                                      std::shared_ptr<const FeatureNames> names) {
  auto out = std::make_shared<Forest>(
      Forest{forest.graph, std::make_shared<FeatureRows>(std::move(rows)), {}, std::move(names)});
  validate_features(*out);
  return out;
}

}  // namespace hiero
