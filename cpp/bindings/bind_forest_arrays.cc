#include <algorithm>

#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/validate.h"

namespace hiero {
namespace {

template <class T>
std::vector<T> forest_integers(const nb::object& argument, const char* name) {
  try {
    return integers<T>(argument, name);
  } catch (const std::invalid_argument& error) {
    throw ForestError(std::string("forest: ") + error.what());
  }
}

template <class T>
void take(std::vector<T>& member, const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) return;
  member = forest_integers<T>(arrays[name], name);
}

void take(std::vector<std::string>& member, const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) return;
  try {
    member = nb::cast<std::vector<std::string>>(arrays[name]);
  } catch (const nb::cast_error&) {
    throw ForestError(std::string("forest: ") + name + ": expected strings");
  }
}

// A matrix (edges, names).
FeatureRows feature_rows(const nb::object& features, std::size_t edges, std::size_t names) {
  const nb::object matrix = nb::module_::import_("scipy.sparse").attr("csr_array")(features);
  if (nb::cast<int>(matrix.attr("ndim")) != 2) throw ForestError("forest: features: expected a matrix");
  const auto [height, width] = nb::cast<std::pair<std::size_t, std::size_t>>(matrix.attr("shape"));
  if (height != edges || width != names) {
    throw ForestError("forest: features: expected a matrix of " + std::to_string(edges) + " edges by " +
                      std::to_string(names) + " feature names, found " + std::to_string(height) + " by " +
                      std::to_string(width));
  }
  FeatureRows rows;
  rows.offsets = forest_integers<std::int32_t>(matrix.attr("indptr"), "features");
  rows.ids = forest_integers<std::int32_t>(matrix.attr("indices"), "features");
  const nb::object data = matrix.attr("data");
  if (numpy::kind(data) == 'c') throw ForestError("forest: features: expected real numbers");
  const Array<double> values(data);
  rows.values.assign(values.values().begin(), values.values().end());
  return rows;
}

std::shared_ptr<const FeatureNames> names_for_forest(const nb::object& names) {
  try {
    return feature_names(names);
  } catch (const std::invalid_argument&) {
    throw ForestError("forest: feature_names: expected strings");
  } catch (const FormatError& error) {
    throw ForestError(std::string("forest: feature_names: ") + error.what());
  }
}

// Where no targets are given, every edge joins what its tails yield.
void join_tails(Hypergraph& forest, TargetTemplates& targets) {
  targets.offsets = {0};
  std::vector<std::int32_t> of_arity;
  forest.edge_targets.clear();
  for (std::size_t e = 0; e + 1 < forest.tail_offsets.size(); ++e) {
    const auto arity =
        static_cast<std::size_t>(std::max(forest.tail_offsets[e + 1] - forest.tail_offsets[e], 0));
    if (arity > forest.tails.size()) throw ForestError("forest: tail_offsets: out of range");
    if (arity >= of_arity.size()) of_arity.resize(arity + 1, -1);
    if (of_arity[arity] < 0) {
      of_arity[arity] = targets.size();
      for (std::size_t i = 0; i < arity; ++i) targets.symbols.push_back(-1 - static_cast<std::int32_t>(i));
      targets.offsets.push_back(static_cast<std::int32_t>(targets.symbols.size()));
    }
    forest.edge_targets.push_back(of_arity[arity]);
  }
}

}  // namespace

std::shared_ptr<Forest> from_arrays(const nb::kwargs& arrays) {
  static const char* const kNames[] = {
      "edge_offsets", "tail_offsets",  "tails",          "node_spans",     "node_labels",  "edge_tables",
      "edge_rules",   "edge_targets",  "target_offsets", "target_symbols", "link_offsets", "links",
      "features",     "feature_names", "source",         "words",          "labels",       "tables"};
  for (const auto& [name, value] : arrays) {
    if (std::ranges::find(kNames, nb::cast<std::string>(name)) == std::end(kNames))
      throw type_error("from_arrays() got an unexpected argument '" + nb::cast<std::string>(name) + "'");
  }
  for (const char* const name : {"edge_offsets", "tail_offsets", "tails"}) {
    if (!arrays.contains(name))
      throw type_error(std::string("from_arrays() lacks the argument '") + name + "'");
  }
  auto graph = std::make_shared<Hypergraph>();
  auto targets = std::make_shared<TargetTemplates>();
  take(graph->edge_offsets, arrays, "edge_offsets");
  take(graph->tail_offsets, arrays, "tail_offsets");
  take(graph->tails, arrays, "tails");
  const std::size_t nodes = std::max<std::size_t>(graph->edge_offsets.size(), 1) - 1;
  const std::size_t edges = std::max<std::size_t>(graph->tail_offsets.size(), 1) - 1;
  graph->root = static_cast<NodeIndex>(nodes) - 1;
  graph->node_spans.assign(2 * nodes, 0);
  graph->node_labels.assign(nodes, -1);
  graph->edge_tables.assign(edges, -1);
  graph->edge_rules.assign(edges, -1);
  take(graph->node_spans, arrays, "node_spans");
  take(graph->node_labels, arrays, "node_labels");
  take(graph->edge_tables, arrays, "edge_tables");
  take(graph->edge_rules, arrays, "edge_rules");
  take(graph->source, arrays, "source");
  take(graph->words, arrays, "words");
  take(graph->labels, arrays, "labels");
  take(graph->tables, arrays, "tables");
  const auto names = arrays.contains("feature_names") ? names_for_forest(arrays["feature_names"])
                                                      : std::make_shared<const FeatureNames>();
  take(graph->edge_targets, arrays, "edge_targets");
  take(targets->offsets, arrays, "target_offsets");
  take(targets->symbols, arrays, "target_symbols");
  if (!arrays.contains("edge_targets")) join_tails(*graph, *targets);
  targets->link_offsets.assign(std::max<std::size_t>(targets->offsets.size(), 1), 0);
  take(targets->link_offsets, arrays, "link_offsets");
  take(targets->links, arrays, "links");
  graph->targets = targets;
  FeatureRows rows{std::vector<std::int32_t>(edges + 1, 0), {}, {}};
  if (arrays.contains("features")) rows = feature_rows(arrays["features"], edges, names->size());
  auto forest = std::make_shared<Forest>(
      Forest{std::move(graph), std::make_shared<FeatureRows>(std::move(rows)), {}, names});
  validate(*forest);
  return forest;
}

std::shared_ptr<Forest> with_features(const Forest& forest, const nb::object& features,
                                      const nb::object& names) {
  auto known = names_for_forest(names);
  FeatureRows rows =
      feature_rows(features, static_cast<std::size_t>(forest.graph->edge_count()), known->size());
  auto out = std::make_shared<Forest>(
      Forest{forest.graph, std::make_shared<FeatureRows>(std::move(rows)), {}, std::move(known)});
  validate_features(*out);
  return out;
}

}  // namespace hiero
