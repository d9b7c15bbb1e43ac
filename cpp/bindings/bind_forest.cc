#include "bind_forest.h"

#include "conversions.h"
#include "hiero/base/join_strings.h"

namespace hiero {
namespace {

SparseMatrix feature_matrix(const nb::object& self) {
  const auto& forest = nb::cast<const Forest&>(self);
  SparseMatrix matrix = csr_view(*forest.rows, forest.feature_names->size(), self);
  const bool has_own_rows = forest.edge_rows.empty() && forest.graph->edge_count() > 0;
  return has_own_rows ? matrix : SparseMatrix(nb::object(matrix[view(forest.edge_rows, self)]));
}

auto target_view(std::vector<std::int32_t> TargetTemplates::* member) {
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
auto graph_value(T Hypergraph::* member) {
  return [member](const Forest& forest) { return (*forest.graph).*member; };
}

void register_nodes(nb::class_<Forest>& forest) {
  forest.def_prop_ro(
            "node_count", [](const Forest& f) { return f.graph->node_count(); }, "Number of nodes.")
      .def_prop_ro("root", graph_value(&Hypergraph::root),
                   "Index of the root, which is the last node; -1 if nothing derives the whole sentence.")
      .def_prop_ro(
          "node_spans",
          [](const nb::object& self) {
            const Hypergraph& f = *nb::cast<const Forest&>(self).graph;
            return view(f.node_spans, self, {f.node_count(), 2});
          },
          "First source word of each node and the word past its last, int32 (nodes, 2).")
      .def_prop_ro("node_labels", graph_view(&Hypergraph::node_labels),
                   "Label of each node, int32 (nodes): indices into `labels`, -1 for the root.")
      .def_prop_ro("edge_offsets", graph_view(&Hypergraph::edge_offsets),
                   "Offsets of the nodes' edges, int32 (nodes + 1): edges edge_offsets[v] to\n"
                   "edge_offsets[v + 1] have the head v.");
}

void register_edges(nb::class_<Forest>& forest) {
  forest.def_prop_ro(
            "edge_count", [](const Forest& f) { return f.graph->edge_count(); }, "Number of edges.")
      .def_prop_ro("tail_offsets", graph_view(&Hypergraph::tail_offsets),
                   "Offsets of the edges' tails in `tails`, int32 (edges + 1).")
      .def_prop_ro("tails", graph_view(&Hypergraph::tails),
                   "Tail nodes of all edges in source order, int32: those of edge e are\n"
                   "tails[tail_offsets[e]:tail_offsets[e + 1]].")
      .def_prop_ro(
          "edge_tables", graph_view(&Hypergraph::edge_tables),
          "Rule table of each edge, int32 (edges): indices into `tables`, -1 for edges into the root.")
      .def_prop_ro("edge_rules", graph_view(&Hypergraph::edge_rules),
                   "Rule of each edge, int64 (edges): ids in its table, -1 for edges into the root.")
      .def_prop_ro("edge_targets", graph_view(&Hypergraph::edge_targets),
                   "Target template of each edge, int32 (edges).")
      .def_prop_ro("edge_origins", graph_view(&Hypergraph::edge_origins),
                   "Edges of the forest that this one was made from, int32 (edges); empty if it was made\n"
                   "from none.")
      .def_prop_ro("target_offsets", target_view(&TargetTemplates::offsets),
                   "Offsets of the target templates in `target_symbols`, int32 (templates + 1).")
      .def_prop_ro(
          "target_symbols", target_view(&TargetTemplates::symbols),
          "Symbols of all target templates, int32: an index into `words`, or -1 - i for the yield of\n"
          "the edge's tail i.")
      .def_prop_ro("link_offsets", target_view(&TargetTemplates::link_offsets),
                   "Offsets of the target templates in `links`, int32 (templates + 1).")
      .def_prop_ro(
          "links",
          [](const nb::object& self) {
            const std::vector<std::int32_t>& links = nb::cast<const Forest&>(self).graph->targets->links;
            return view(links, self, {static_cast<Py_ssize_t>(links.size() / 2), 2});
          },
          "Word alignment of the target templates, int32 (links, 2): source and target token positions\n"
          "in the rule.");
}

void register_names(nb::class_<Forest>& forest) {
  forest
      .def_prop_ro(
          "features", &feature_matrix,
          "Feature row of each edge, a scipy.sparse.csr_array (edges, features). It shares the forest's\n"
          "memory, unless the forest was made from another one: then the rows are copied.")
      .def_prop_ro(
          "feature_names", [](const Forest& f) { return f.feature_names; },
          "Names of the columns of `features`.")
      .def_prop_ro("source", graph_value(&Hypergraph::source),
                   "Tokens of the source sentence, or of all arcs of a source lattice.")
      .def_prop_ro(
          "source_length", [](const Forest& f) { return f.graph->source_length(); },
          "Number of source tokens, or of the last node of a source lattice: where spans end.")
      .def_prop_ro(
          "source_nodes",
          [](const nb::object& self) {
            const std::vector<std::int32_t>& nodes = nb::cast<const Forest&>(self).graph->source_nodes;
            return view(nodes, self, {static_cast<Py_ssize_t>(nodes.size() / 2), 2});
          },
          "Nodes that the arcs of a source lattice lead from and to, int32 (tokens, 2); without rows for\n"
          "a sentence. `node_spans` are pairs of these nodes then.")
      .def_prop_ro("path_offsets", target_view(&TargetTemplates::path_offsets),
                   "Offsets of the target templates in `path`, int32 (templates + 1); empty for a sentence.")
      .def_prop_ro("path", target_view(&TargetTemplates::path),
                   "Arcs of a source lattice that the rules of edges have, by template, int32: indices into\n"
                   "`source`.")
      .def(
          "source_side",
          [](const Forest& f, EdgeIndex edge) {
            if (edge < 0 || edge >= f.graph->edge_count()) throw std::out_of_range("no such edge");
            return source_side(*f.graph, head_of(*f.graph, edge), edge);
          },
          nb::arg("edge"),
          R"(Returns the source side of an edge: positions in `source`, and -1 - i for its tail i.

Args:
    edge: Index of the edge.

Raises:
    IndexError: There is no such edge.)")
      .def_prop_ro("words", graph_value(&Hypergraph::words),
                   "Target words, by the numbers in `target_symbols`.")
      .def_prop_ro("labels", graph_value(&Hypergraph::labels),
                   "Nonterminal labels, by the numbers in `node_labels`.")
      .def_prop_ro("tables", graph_value(&Hypergraph::tables),
                   "Owner names of the rule tables, by the numbers in `edge_tables`.");
}

nb::class_<Derivation> register_derivation(nb::module_& m) {
  auto derivation = define<Derivation>(m, "Derivation", "A derivation of a forest, with its score.");
  derivation.def_ro("score", &Derivation::score, "Sum of the scores of its edges (natural log).")
      .def_prop_ro("edges", view_of(&Derivation::edges),
                   "Edges in preorder, children in source order: int32 indices into the forest's edges.")
      .def_prop_ro(
          "tokens", [](const Derivation& d) { return yield_tokens(*d.forest, d.edges); },
          "Target words that it yields.")
      .def_prop_ro(
          "text", [](const Derivation& d) { return join_strings(yield_tokens(*d.forest, d.edges)); },
          "Target words with blanks between them.")
      .def_prop_ro(
          "features",
          [](const Derivation& d) { return feature_dict(*d.forest, feature_sums(*d.forest, d.edges)); },
          "Feature sums by name; features that it does not have are 0.")
      .def_prop_ro(
          "alignment", [](const Derivation& d) { return alignment(*d.forest, d.edges); },
          "Word alignment: sorted (source position, target position) pairs.")
      .def_prop_ro(
          "path", [](const Derivation& d) { return source_path(*d.forest, d.edges); },
          "Positions of the source words that it translates: all, or those of a path through a lattice.")
      .def_prop_ro(
          "forest", [](const Derivation& d) { return d.forest; }, "The forest that it is part of.")
      .def("__repr__",
           [](const nb::object& self) {
             return described("Derivation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);
  return derivation;
}

}  // namespace

void register_forest(nb::module_& m) {
  auto forest = define<Forest>(m, "Forest", R"(Translation forest: a hypergraph as flat read-only arrays.

Nodes are in topological order, tails before heads; the edges of a node are contiguous. The arrays
are views of the core's memory. Methods never change a forest, but return another one.

Most methods take `scores`, a score for each edge (natural log): an array of shape (edges,), or a
mapping from feature names to weights, whose scores are weights . features. A feature without a
weight counts 0; a weight without a feature raises FormatError. Scores must be finite or -inf, which
excludes an edge; anything else raises ValueError.)");
  auto derivation = register_derivation(m);
  register_nodes(forest);
  register_edges(forest);
  register_names(forest);
  forest
      .def("__repr__",
           [](const nb::object& self) {
             return described("Forest",
                              {{"nodes", self.attr("node_count")}, {"edges", self.attr("edge_count")}});
           })
      .def("_repr_html_", &picture);
  register_forest_arrays(forest);
  register_forest_algorithms(forest);
  register_kbest(m, forest);
  register_distribution(m, forest);
  register_ngrams(forest);
  register_pickle(forest, derivation);
}

}  // namespace hiero
