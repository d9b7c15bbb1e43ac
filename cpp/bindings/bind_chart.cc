#include "bind_forest.h"
#include "hiero/decode/chart.h"

namespace hiero {
void register_chart(nb::module_& m) {
  define<Chart>(
      m, "Chart",
      "What search left in every cell of a sentence: all items as a forest, and those of each span, "
      "whatever\n"
      "their label. Scores are those of the weights that it was searched with.")
      .def_prop_ro(
          "forest", [](const Chart& chart) { return chart.forest(); },
          "Every item of every cell, also those that no complete derivation uses.")
      .def_prop_ro(
          "survived",
          [](const nb::object& self) { return view(nb::cast<const Chart&>(self).survived(), self); },
          "uint8 (nodes): 1 if the item outlived pruning.")
      .def_prop_ro(
          "completed",
          [](const nb::object& self) { return view(nb::cast<const Chart&>(self).completed(), self); },
          "uint8 (nodes): 1 if search had stopped before it made the item, which is there for its split "
          "point\n"
          "alone (with keep=\"splits\").")
      .def_prop_ro(
          "scores", [](const nb::object& self) { return view(nb::cast<const Chart&>(self).scores(), self); },
          "float64 (nodes): of the best derivation of each, weights . features.")
      .def_prop_ro(
          "edge_scores",
          [](const nb::object& self) { return view(nb::cast<const Chart&>(self).edge_scores(), self); },
          "float64 (edges): weights . features.")
      .def_prop_ro(
          "spans",
          [](const Chart& chart) {
            std::vector<std::pair<std::int32_t, std::int32_t>> out;
            for (const auto& [begin, end] : chart.spans()) out.emplace_back(begin, end);
            return out;
          },
          "First source word and the one past the end of all spans with an item, in order.")
      .def(
          "nodes",
          [](const Chart& chart, std::int32_t begin, std::int32_t end) {
            return as_array(chart.nodes({begin, end}));
          },
          nb::arg("begin"), nb::arg("end"),
          "int32: the items of a span, best first, of all labels; the root of the forest is none of them.")
      .def(
          "derivation",
          [](const Chart& chart, NodeIndex node) {
            if (node < 0 || node >= chart.forest()->graph->node_count())
              throw std::out_of_range("no node " + std::to_string(node) + ", there are " +
                                      std::to_string(chart.forest()->graph->node_count()));
            const double score = chart.scores()[static_cast<std::size_t>(node)];
            return Derivation{chart.forest(), score, chart.derivation(node)};
          },
          nb::arg("node"), "The best derivation of a node. Raises IndexError for no node.")
      .def(
          "splits",
          [](const Chart& chart, std::int32_t begin, std::int32_t end) {
            nb::dict out;
            for (const Chart::Split& split : chart.splits({begin, end}))
              out[nb::int_(split.place)] = Derivation{chart.forest(), split.score, chart.derivation(split)};
            return out;
          },
          nb::arg("begin"), nb::arg("end"),
          "The best derivation of a span for each split point, by the position where the first nonterminal "
          "of\n"
          "its topmost rule ends, unary rules aside (Zhai et al. 2015, section 3.2.3). Where search stops "
          "at a\n"
          "limit, keep=\"splits\" has those of all split points.")
      .def("__repr__", [](const nb::object& self) {
        const auto& chart = nb::cast<const Chart&>(self);
        return described("Chart", {{"spans", nb::int_(chart.spans().size())},
                                   {"nodes", nb::int_(chart.forest()->graph->node_count())}});
      });
}

}  // namespace hiero
