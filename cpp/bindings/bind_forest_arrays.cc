// Forest.from_arrays and Forest.with_features.
#include <algorithm>

#include "bind_forest.h"
#include "conversions.h"
#include "hiero/base/error.h"
#include "hiero/forest/forest_arrays.h"

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
  if (arrays.contains(name)) member = forest_integers<T>(arrays[name], name);
}

template <class T>
void take(std::optional<std::vector<T>>& member, const nb::dict& arrays, const char* name) {
  if (arrays.contains(name)) member = forest_integers<T>(arrays[name], name);
}

void take(std::vector<std::string>& member, const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) return;
  try {
    member = nb::cast<std::vector<std::string>>(arrays[name]);
  } catch (const nb::cast_error&) {
    throw ForestError(std::string("forest: ") + name + ": expected strings");
  }
}

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

void check_names(const nb::kwargs& arrays) {
  static const char* const kNames[] = {
      "edge_offsets", "tail_offsets", "tails",        "node_spans",     "node_labels",
      "edge_tables",  "edge_rules",   "edge_targets", "target_offsets", "target_symbols",
      "link_offsets", "links",        "features",     "feature_names",  "source",
      "words",        "labels",       "tables",       "source_nodes",   "path_offsets",
      "path"};
  for (const auto& [name, value] : arrays) {
    if (std::ranges::find(kNames, nb::cast<std::string>(name)) == std::end(kNames))
      throw type_error("from_arrays() got an unexpected argument '" + nb::cast<std::string>(name) + "'");
  }
  for (const char* const name : {"edge_offsets", "tail_offsets", "tails"}) {
    if (!arrays.contains(name))
      throw type_error(std::string("from_arrays() lacks the argument '") + name + "'");
  }
}

std::shared_ptr<Forest> from_arrays(const nb::kwargs& arrays) {
  check_names(arrays);
  ForestArrays parts;
  take(parts.edge_offsets, arrays, "edge_offsets");
  take(parts.tail_offsets, arrays, "tail_offsets");
  take(parts.tails, arrays, "tails");
  take(parts.node_spans, arrays, "node_spans");
  take(parts.node_labels, arrays, "node_labels");
  take(parts.edge_tables, arrays, "edge_tables");
  take(parts.edge_rules, arrays, "edge_rules");
  take(parts.source, arrays, "source");
  take(parts.source_nodes, arrays, "source_nodes");
  take(parts.path_offsets, arrays, "path_offsets");
  take(parts.path, arrays, "path");
  take(parts.words, arrays, "words");
  take(parts.labels, arrays, "labels");
  take(parts.tables, arrays, "tables");
  if (arrays.contains("feature_names")) parts.feature_names = names_for_forest(arrays["feature_names"]);
  take(parts.edge_targets, arrays, "edge_targets");
  take(parts.target_offsets, arrays, "target_offsets");
  take(parts.target_symbols, arrays, "target_symbols");
  take(parts.link_offsets, arrays, "link_offsets");
  take(parts.links, arrays, "links");
  if (arrays.contains("features"))
    parts.features = feature_rows(arrays["features"], parts.edge_count(), parts.feature_names->size());
  return make_forest(std::move(parts));
}

std::shared_ptr<Forest> forest_with_features(const Forest& forest, const MatrixLike& features,
                                             const Strings& names) {
  auto feature_names = names_for_forest(names);
  FeatureRows rows =
      feature_rows(features, static_cast<std::size_t>(forest.graph->edge_count()), feature_names->size());
  return with_features(forest, std::move(rows), std::move(feature_names));
}

}  // namespace

void register_forest_arrays(nb::class_<Forest>& forest) {
  forest
      .def_static(
          "from_arrays", &from_arrays,
          nb::sig("def from_arrays(*, edge_offsets: numpy.typing.ArrayLike, "
                  "tail_offsets: numpy.typing.ArrayLike, tails: numpy.typing.ArrayLike, "
                  "node_spans: numpy.typing.ArrayLike = ..., node_labels: numpy.typing.ArrayLike = ..., "
                  "edge_tables: numpy.typing.ArrayLike = ..., edge_rules: numpy.typing.ArrayLike = ..., "
                  "edge_targets: numpy.typing.ArrayLike = ..., "
                  "target_offsets: numpy.typing.ArrayLike = ..., "
                  "target_symbols: numpy.typing.ArrayLike = ..., "
                  "link_offsets: numpy.typing.ArrayLike = ..., links: numpy.typing.ArrayLike = ..., "
                  "features: numpy.typing.ArrayLike | scipy.sparse.csr_array = ..., "
                  "feature_names: collections.abc.Sequence[str] = ..., "
                  "source: collections.abc.Sequence[str] = ..., "
                  "source_nodes: numpy.typing.ArrayLike = ..., "
                  "path_offsets: numpy.typing.ArrayLike = ..., path: numpy.typing.ArrayLike = ..., "
                  "words: collections.abc.Sequence[str] = ..., "
                  "labels: collections.abc.Sequence[str] = ..., "
                  "tables: collections.abc.Sequence[str] = ...) -> Forest"),
          R"(Makes a forest of the arrays that forests have as attributes.

By default there are no spans, labels, rules, words and features, and every edge joins the yields of
its tails. The root is the last node. A lattice is a forest whose edges have one tail each, but for
the edges into the first node, which have none.

Args:
    edge_offsets: int32 (nodes + 1), edges of each node.
    tail_offsets: int32 (edges + 1), tails of each edge.
    tails: int32, tail nodes; a tail comes before its head.
    node_spans: int32 (nodes, 2), first source word and the word past the last one (default: 0, 0).
    node_labels: int32 (nodes), indices into `labels` (default: -1).
    edge_tables: int32 (edges), indices into `tables` (default: -1).
    edge_rules: int64 (edges), rule ids (default: -1).
    edge_targets: int32 (edges), target templates.
    target_offsets: int32 (templates + 1), symbols of each target template.
    target_symbols: int32, indices into `words`, or -1 - i for the yield of tail i.
    link_offsets: int32 (templates + 1), links of each target template (default: no links).
    links: int32 (links, 2), source and target token positions in the rule.
    features: Matrix (edges, features), dense or sparse; needs `feature_names`.
    feature_names: Names of the columns of `features`.
    source: Tokens of the source sentence, or of all arcs of a source lattice.
    source_nodes: int32 (tokens, 2), the nodes that the arcs of a source lattice lead from and to.
    path_offsets: int32 (templates + 1), of a source lattice: arcs of each target template.
    path: int32, of a source lattice: the arcs that the rule of an edge has, in order.
    words: Target words.
    labels: Nonterminal labels.
    tables: Owner names of rule tables.

Raises:
    ForestError: The arrays make no forest; the message says what is wrong.
    TypeError: An argument is missing or unknown.)")
      .def("with_features", &forest_with_features, nb::arg("features"), nb::arg("feature_names"),
           R"(Returns the same forest with other features; all else is shared.

Args:
    features: Matrix (edges, features), dense or sparse.
    feature_names: Names of its columns.

Raises:
    ForestError: The matrix does not fit, or has values that are not finite.)");
}

}  // namespace hiero
