#include "bind_forest.h"

#include "hiero/base/error.h"
#include "hiero/forest/edge_values.h"

namespace hiero {
namespace {

std::vector<std::string> derivation_tokens(const Hypergraph& forest, std::span<const EdgeIndex> edges) {
  std::vector<std::string> tokens;
  for (std::int32_t word : yield_words(forest, edges)) tokens.push_back(forest.words[word]);
  return tokens;
}

py::object feature_matrix(const py::object& self) {
  const auto& forest = self.cast<const Forest&>();
  const FeatureRows& rows = *forest.rows;
  const py::object csr = py::module_::import("scipy.sparse").attr("csr_array");
  const py::tuple parts =
      py::make_tuple(view(rows.values, self), view(rows.ids, self), view(rows.offsets, self));
  const py::object matrix =
      csr(parts, py::arg("shape") = py::make_tuple(rows.offsets.size() - 1, forest.feature_names->size()),
          py::arg("copy") = false);
  const bool own_rows = forest.edge_rows.empty() && forest.graph->edge_count() > 0;
  return own_rows ? matrix : matrix[view(forest.edge_rows, self)];
}

auto target_property(std::vector<std::int32_t> TargetTemplates::*member) {
  return [member](const py::object& self) {
    return view((*self.cast<const Forest&>().graph->targets).*member, self);
  };
}

template <class T>
auto graph_view(std::vector<T> Hypergraph::*member) {
  return [member](const py::object& self) { return view((*self.cast<const Forest&>().graph).*member, self); };
}

template <class T>
auto of_graph(T Hypergraph::*member) {
  return [member](const Forest& forest) { return (*forest.graph).*member; };
}

}  // namespace

std::vector<double> edge_values(const Forest& forest, const py::object& values) {
  const EdgeIndex edges = forest.graph->edge_count();
  if (py::isinstance(values, py::module_::import("collections.abc").attr("Mapping"))) {
    if (edges == 0) return {};  // of a sentence that failed; it has no features either
    const std::vector<double> weights = weight_vector(py::dict(values), *forest.feature_names);
    const py::gil_scoped_release release;
    return edge_scores(forest, weights);
  }
  const DoubleVector array(values);
  if (array.ndim() != 1 || array.size() != edges) {
    throw std::invalid_argument("expected a value per edge, " + std::to_string(edges) + ", got an array of " +
                                std::to_string(array.size()));
  }
  return {array.data(), array.data() + array.size()};
}

std::vector<std::int32_t> integer_vector(const py::object& values, const char* name) {
  const py::array array = py::array::ensure(values);
  if (!array || array.ndim() != 1) throw std::invalid_argument(std::string(name) + ": expected a vector");
  return integers<std::int32_t>(array, name);
}

py::object to_python(const BigUnsigned& number) {
  const auto digits = number.digits();
  const py::bytes bytes(reinterpret_cast<const char*>(digits.data()), digits.size_bytes());
  return py::module_::import("builtins").attr("int").attr("from_bytes")(bytes, "little");
}

void check_bytes(const py::buffer_info& memory) {
  if (memory.itemsize != 1 || memory.ndim != 1 || (memory.shape[0] > 0 && memory.strides[0] != 1))
    throw std::invalid_argument("record: expected bytes");
}

void allow_interrupt(std::size_t done) {
  if (done % 1024 != 0) return;
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

py::dict feature_dict(const Forest& forest, std::span<const EdgeIndex> edges) {
  py::dict out;
  for (const auto& [feature, value] : feature_sums(forest, edges)) {
    out[py::str((*forest.feature_names)[feature])] = value;
  }
  return out;
}

std::string join(const std::vector<std::string>& tokens, const char* separator) {
  std::string text;
  for (const std::string& token : tokens) {
    if (!text.empty()) text += separator;
    text += token;
  }
  return text;
}

py::object picture(const py::object& self) {
  return py::module_::import("hiero.forest.notebook").attr("picture")(self);
}

std::string described(const char* kind, const Facts& facts) {
  std::string text = std::string(kind) + "(";
  for (const auto& [name, value] : facts) {
    if (text.back() != '(') text += ", ";
    text += std::string(name) + "=" + py::repr(value).cast<std::string>();
  }
  return text + ")";
}

void register_forest(py::module_& m) {
  py::class_<Derivation> derivation(m, "Derivation", "One derivation of a forest.");
  derivation.def_readonly("score", &Derivation::score, "Model score (natural log).")
      .def_property_readonly("edges", view_of(&Derivation::edges),
                             "int32 array: edge indices in preorder, children in source order.")
      .def_property_readonly("tokens",
                             [](const Derivation& d) { return derivation_tokens(*d.forest, d.edges); })
      .def_property_readonly("text",
                             [](const Derivation& d) { return join(derivation_tokens(*d.forest, d.edges)); })
      .def_property_readonly(
          "features", [](const Derivation& d) { return feature_dict(*d.forest, d.edges); },
          "Feature sums by name; absent features are 0.")
      .def_property_readonly(
          "alignment", [](const Derivation& d) { return alignment(*d.forest, d.edges); },
          "Sorted (source position, target position) pairs.")
      .def_property_readonly("forest",
                             [](const Derivation& d) { return std::const_pointer_cast<Forest>(d.forest); })
      .def("__repr__",
           [](const py::object& self) {
             return described("Derivation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);

  py::class_<Forest, std::shared_ptr<Forest>> forest(
      m, "Forest",
      "A translation forest: a hypergraph as flat read-only arrays. Nodes are in topological order, tails\n"
      "before heads; edges are grouped by head.");
  forest.def_property_readonly("node_count", [](const Forest& f) { return f.graph->node_count(); })
      .def_property_readonly("edge_count", [](const Forest& f) { return f.graph->edge_count(); })
      .def_property_readonly("root", of_graph(&Hypergraph::root),
                             "The last node, or -1 if nothing derives the whole sentence.")
      .def_property_readonly(
          "node_spans",
          [](const py::object& self) {
            const Hypergraph& f = *self.cast<const Forest&>().graph;
            return view(f.node_spans, self, {f.node_count(), 2});
          },
          "int32 (nodes, 2): first source word, past-the-end word.")
      .def_property_readonly("node_labels", graph_view(&Hypergraph::node_labels),
                             "int32 (nodes): index into `labels`; -1 for the root.")
      .def_property_readonly("edge_offsets", graph_view(&Hypergraph::edge_offsets),
                             "int32 (nodes + 1): edges edge_offsets[v] to edge_offsets[v + 1] have head v.")
      .def_property_readonly("tail_offsets", graph_view(&Hypergraph::tail_offsets), "int32 (edges + 1).")
      .def_property_readonly("tails", graph_view(&Hypergraph::tails),
                             "int32: tail nodes in source order, at tail_offsets.")
      .def_property_readonly("edge_tables", graph_view(&Hypergraph::edge_tables),
                             "int32 (edges): index into `tables`; -1 for edges into the root.")
      .def_property_readonly("edge_rules", graph_view(&Hypergraph::edge_rules),
                             "int64 (edges): rule id within its table; -1 for edges into the root.")
      .def_property_readonly("edge_targets", graph_view(&Hypergraph::edge_targets),
                             "int32 (edges): target template.")
      .def_property_readonly(
          "edge_origins", graph_view(&Hypergraph::edge_origins),
          "int32 (edges): for a forest made from another, the edges meant there; else empty.")
      .def_property_readonly("target_offsets", target_property(&TargetTemplates::offsets),
                             "int32 (templates + 1).")
      .def_property_readonly("target_symbols", target_property(&TargetTemplates::symbols),
                             "int32: index into `words`, or -1 - i for the yield of tail i.")
      .def_property_readonly("link_offsets", target_property(&TargetTemplates::link_offsets),
                             "int32 (templates + 1).")
      .def_property_readonly(
          "links",
          [](const py::object& self) {
            const std::vector<std::int32_t>& links = self.cast<const Forest&>().graph->targets->links;
            return view(links, self, {static_cast<py::ssize_t>(links.size() / 2), 2});
          },
          "int32 (links, 2): source and target token positions within the rule.")
      .def_property_readonly(
          "features", &feature_matrix,
          "scipy.sparse.csr_array (edges, features); it shares the forest's memory unless the forest\n"
          "was made from another, whose rows are then gathered.")
      .def_property_readonly(
          "feature_names",
          [](const Forest& f) { return std::const_pointer_cast<FeatureNames>(f.feature_names); })
      .def_property_readonly("source", of_graph(&Hypergraph::source), "The input's tokens.")
      .def_property_readonly("words", of_graph(&Hypergraph::words))
      .def_property_readonly("labels", of_graph(&Hypergraph::labels))
      .def_property_readonly("tables", of_graph(&Hypergraph::tables), "Owner names of the rule tables.")
      .def("__repr__",
           [](const py::object& self) {
             return described("Forest",
                              {{"nodes", self.attr("node_count")}, {"edges", self.attr("edge_count")}});
           })
      .def("_repr_html_", &picture);
  register_forest_algorithms(forest, m);
  register_pickle(forest, derivation);
}

}  // namespace hiero
