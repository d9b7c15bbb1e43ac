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

nb::object feature_matrix(const nb::object& self) {
  const auto& forest = nb::cast<const Forest&>(self);
  const FeatureRows& rows = *forest.rows;
  const nb::object csr = nb::module_::import_("scipy.sparse").attr("csr_array");
  const nb::tuple parts =
      nb::make_tuple(view(rows.values, self), view(rows.ids, self), view(rows.offsets, self));
  const nb::object matrix =
      csr(parts, nb::arg("shape") = nb::make_tuple(rows.offsets.size() - 1, forest.feature_names->size()),
          nb::arg("copy") = false);
  const bool own_rows = forest.edge_rows.empty() && forest.graph->edge_count() > 0;
  return own_rows ? matrix : matrix[view(forest.edge_rows, self)];
}

auto target_property(std::vector<std::int32_t> TargetTemplates::* member) {
  return [member](const nb::object& self) {
    return view((*nb::cast<const Forest&>(self).graph->targets).*member, self);
  };
}

template <class T>
auto graph_view(std::vector<T> Hypergraph::* member) {
  return
      [member](const nb::object& self) { return view((*nb::cast<const Forest&>(self).graph).*member, self); };
}

template <class T>
auto of_graph(T Hypergraph::* member) {
  return [member](const Forest& forest) { return (*forest.graph).*member; };
}

}  // namespace

std::vector<double> edge_values(const Forest& forest, const nb::object& values) {
  const EdgeIndex edges = forest.graph->edge_count();
  if (nb::isinstance(values, nb::module_::import_("collections.abc").attr("Mapping"))) {
    if (edges == 0) return {};  // of a sentence that failed; it has no features either
    const std::vector<double> weights = weight_vector(values, *forest.feature_names);
    const nb::gil_scoped_release release;
    return edge_scores(forest, weights);
  }
  const Array<double> array(values);
  if (array.ndim() != 1 || array.size() != edges) {
    throw std::invalid_argument("expected a value per edge, " + std::to_string(edges) + ", got an array of " +
                                std::to_string(array.size()));
  }
  return {array.values().begin(), array.values().end()};
}

std::vector<std::int32_t> integer_vector(const nb::object& values, const char* name) {
  const nb::object array = numpy::ensure(values);
  if (!array || numpy::shape(array).size() != 1)
    throw std::invalid_argument(std::string(name) + ": expected a vector");
  return integers<std::int32_t>(array, name);
}

nb::object to_python(const BigUnsigned& number) {
  const auto digits = number.digits();
  const nb::bytes bytes(digits.data(), digits.size_bytes());
  return nb::module_::import_("builtins").attr("int").attr("from_bytes")(bytes, "little");
}

ByteView::ByteView(const nb::handle& object) {
  if (PyObject_GetBuffer(object.ptr(), &memory_, PyBUF_STRIDES) != 0) nb::raise_python_error();
  if (memory_.itemsize == 1 && memory_.ndim == 1 && (memory_.len == 0 || memory_.strides[0] == 1)) return;
  PyBuffer_Release(&memory_);
  throw std::invalid_argument("record: expected bytes");
}

void allow_interrupt(std::size_t done) {
  if (done % 1024 != 0) return;
  const nb::gil_scoped_acquire acquire;
  check_signals();
}

nb::dict feature_dict(const Forest& forest, std::span<const EdgeIndex> edges) {
  nb::dict out;
  for (const auto& [feature, value] : feature_sums(forest, edges)) {
    out[nb::cast((*forest.feature_names)[feature])] = value;
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

nb::object picture(const nb::object& self) {
  return nb::module_::import_("hiero.pages.notebook").attr("picture")(self);
}

std::string described(const char* kind, const Facts& facts) {
  std::string text = std::string(kind) + "(";
  for (const auto& [name, value] : facts) {
    if (text.back() != '(') text += ", ";
    text += std::string(name) + "=" + repr_of(value);
  }
  return text + ")";
}

void register_forest(nb::module_& m) {
  auto forest = define<Forest>(
      m, "Forest",
      "A translation forest: a hypergraph as flat read-only arrays. Nodes are in topological order, tails\n"
      "before heads; edges are grouped by head.");
  auto derivation = define<Derivation>(m, "Derivation", "One derivation of a forest.");
  derivation.def_ro("score", &Derivation::score, "Model score (natural log).")
      .def_prop_ro("edges", view_of(&Derivation::edges),
                   "int32 array: edge indices in preorder, children in source order.")
      .def_prop_ro("tokens", [](const Derivation& d) { return derivation_tokens(*d.forest, d.edges); })
      .def_prop_ro("text", [](const Derivation& d) { return join(derivation_tokens(*d.forest, d.edges)); })
      .def_prop_ro(
          "features", [](const Derivation& d) { return feature_dict(*d.forest, d.edges); },
          "Feature sums by name; absent features are 0.")
      .def_prop_ro(
          "alignment", [](const Derivation& d) { return alignment(*d.forest, d.edges); },
          "Sorted (source position, target position) pairs.")
      .def_prop_ro("forest", [](const Derivation& d) { return d.forest; })
      .def("__repr__",
           [](const nb::object& self) {
             return described("Derivation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);

  forest.def_prop_ro("node_count", [](const Forest& f) { return f.graph->node_count(); })
      .def_prop_ro("edge_count", [](const Forest& f) { return f.graph->edge_count(); })
      .def_prop_ro("root", of_graph(&Hypergraph::root),
                   "The last node, or -1 if nothing derives the whole sentence.")
      .def_prop_ro(
          "node_spans",
          [](const nb::object& self) {
            const Hypergraph& f = *nb::cast<const Forest&>(self).graph;
            return view(f.node_spans, self, {f.node_count(), 2});
          },
          "int32 (nodes, 2): first source word, past-the-end word.")
      .def_prop_ro("node_labels", graph_view(&Hypergraph::node_labels),
                   "int32 (nodes): index into `labels`; -1 for the root.")
      .def_prop_ro("edge_offsets", graph_view(&Hypergraph::edge_offsets),
                   "int32 (nodes + 1): edges edge_offsets[v] to edge_offsets[v + 1] have head v.")
      .def_prop_ro("tail_offsets", graph_view(&Hypergraph::tail_offsets), "int32 (edges + 1).")
      .def_prop_ro("tails", graph_view(&Hypergraph::tails),
                   "int32: tail nodes in source order, at tail_offsets.")
      .def_prop_ro("edge_tables", graph_view(&Hypergraph::edge_tables),
                   "int32 (edges): index into `tables`; -1 for edges into the root.")
      .def_prop_ro("edge_rules", graph_view(&Hypergraph::edge_rules),
                   "int64 (edges): rule id within its table; -1 for edges into the root.")
      .def_prop_ro("edge_targets", graph_view(&Hypergraph::edge_targets), "int32 (edges): target template.")
      .def_prop_ro("edge_origins", graph_view(&Hypergraph::edge_origins),
                   "int32 (edges): for a forest made from another, the edges meant there; else empty.")
      .def_prop_ro("target_offsets", target_property(&TargetTemplates::offsets), "int32 (templates + 1).")
      .def_prop_ro("target_symbols", target_property(&TargetTemplates::symbols),
                   "int32: index into `words`, or -1 - i for the yield of tail i.")
      .def_prop_ro("link_offsets", target_property(&TargetTemplates::link_offsets), "int32 (templates + 1).")
      .def_prop_ro(
          "links",
          [](const nb::object& self) {
            const std::vector<std::int32_t>& links = nb::cast<const Forest&>(self).graph->targets->links;
            return view(links, self, {static_cast<Py_ssize_t>(links.size() / 2), 2});
          },
          "int32 (links, 2): source and target token positions within the rule.")
      .def_prop_ro(
          "features", &feature_matrix,
          "scipy.sparse.csr_array (edges, features); it shares the forest's memory unless the forest\n"
          "was made from another, whose rows are then gathered.")
      .def_prop_ro("feature_names", [](const Forest& f) { return f.feature_names; })
      .def_prop_ro("source", of_graph(&Hypergraph::source), "The input's tokens.")
      .def_prop_ro("words", of_graph(&Hypergraph::words))
      .def_prop_ro("labels", of_graph(&Hypergraph::labels))
      .def_prop_ro("tables", of_graph(&Hypergraph::tables), "Owner names of the rule tables.")
      .def("__repr__",
           [](const nb::object& self) {
             return described("Forest",
                              {{"nodes", self.attr("node_count")}, {"edges", self.attr("edge_count")}});
           })
      .def("_repr_html_", &picture);
  register_forest_algorithms(forest, m);
  register_pickle(forest, derivation);
}

}  // namespace hiero
