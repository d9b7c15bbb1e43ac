// What Python's pickle and copy keep of objects: all that makes another like it. State is checked as arrays
// from anywhere else are.
#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/validate.h"

namespace hiero {
namespace {

// The arrays that Forest.from_arrays takes, by the names of the properties.
constexpr const char* kArrays[] = {
    "edge_offsets", "tail_offsets",  "tails",          "node_spans",     "node_labels",  "edge_tables",
    "edge_rules",   "edge_targets",  "target_offsets", "target_symbols", "link_offsets", "links",
    "features",     "feature_names", "source",         "words",          "labels",       "tables"};

py::dict forest_state(const py::object& forest) {
  py::dict arrays;
  for (const char* const name : kArrays) arrays[name] = forest.attr(name);
  const Hypergraph& f = *forest.cast<const Forest&>().graph;
  py::dict state;
  state["arrays"] = arrays;
  state["root"] = f.root;
  state["edge_origins"] = as_array(f.edge_origins);
  state["ngram_order"] = f.ngram_order;
  state["node_boundaries"] = as_array(f.node_boundaries);
  return state;
}

std::shared_ptr<Forest> forest_from(const py::dict& state) {
  const std::shared_ptr<Forest> forest = from_arrays(py::kwargs(state["arrays"]));
  auto graph = std::make_shared<Hypergraph>(*forest->graph);
  const auto root = state["root"].cast<NodeIndex>();
  if (root != graph->root && root != -1) throw ForestError("forest: root: expected the last node, or -1");
  graph->root = root;
  graph->edge_origins = integers<std::int32_t>(state["edge_origins"], "edge_origins");
  graph->ngram_order = state["ngram_order"].cast<std::int32_t>();
  graph->node_boundaries = integers<std::int32_t>(state["node_boundaries"], "node_boundaries");
  validate_annotations(*graph);
  forest->graph = std::move(graph);
  return forest;
}

py::tuple derivation_state(const Derivation& derivation) {
  return py::make_tuple(std::const_pointer_cast<Forest>(derivation.forest), derivation.score,
                        as_array(derivation.edges));
}

Derivation derivation_from(const py::tuple& state) {
  if (state.size() != 3) throw ForestError("derivation: expected a forest, a score and edges");
  Derivation out{state[0].cast<std::shared_ptr<Forest>>(), state[1].cast<double>(),
                 integers<EdgeIndex>(state[2], "edges")};
  if (out.edges.empty()) return out;
  const EdgeIndex first = out.edges.front();
  const bool known = first >= 0 && first < out.forest->graph->edge_count();
  check_derivation(*out.forest, known ? head_of(*out.forest, first) : -1, out.edges);
  return out;
}

}  // namespace

void register_pickle(py::class_<Forest, std::shared_ptr<Forest>>& forest,
                     py::class_<Derivation>& derivation) {
  forest.def(py::pickle(&forest_state, &forest_from));
  derivation.def(py::pickle(&derivation_state, &derivation_from));
}

}  // namespace hiero
