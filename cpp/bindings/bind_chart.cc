#include "bind_forest.h"
#include "hiero/decode/chart.h"

namespace hiero {
void register_chart(py::module_& m) {
  py::class_<Chart, std::shared_ptr<Chart>>(
      m, "Chart",
      "What search left in every cell of a sentence: all items as a forest, and those of each span, "
      "whatever\n"
      "their label. Scores are those of the weights that it was searched with.")
      .def_property_readonly(
          "forest", [](const Chart& chart) { return std::const_pointer_cast<Forest>(chart.forest()); },
          "Every item of every cell, also those that no complete derivation uses.")
      .def_property_readonly(
          "survived", [](const py::object& self) { return view(self.cast<const Chart&>().survived(), self); },
          "uint8 (nodes): 1 if the item outlived pruning.")
      .def_property_readonly(
          "completed",
          [](const py::object& self) { return view(self.cast<const Chart&>().completed(), self); },
          "uint8 (nodes): 1 if search had stopped before it made the item, which is there for its split "
          "point\n"
          "alone (with keep=\"splits\").")
      .def_property_readonly(
          "scores", [](const py::object& self) { return view(self.cast<const Chart&>().scores(), self); },
          "float64 (nodes): of the best derivation of each, weights . features.")
      .def_property_readonly(
          "edge_scores",
          [](const py::object& self) { return view(self.cast<const Chart&>().edge_scores(), self); },
          "float64 (edges): weights . features.")
      .def_property_readonly(
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
          py::arg("begin"), py::arg("end"),
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
          py::arg("node"), "The best derivation of a node. Raises IndexError for no node.")
      .def(
          "splits",
          [](const Chart& chart, std::int32_t begin, std::int32_t end) {
            py::dict out;
            for (const Chart::Split& split : chart.splits({begin, end}))
              out[py::int_(split.place)] = Derivation{chart.forest(), split.score, chart.derivation(split)};
            return out;
          },
          py::arg("begin"), py::arg("end"),
          "The best derivation of a span for each split point, by the position where the first nonterminal "
          "of\n"
          "its topmost rule ends, unary rules aside (Zhai et al. 2015, section 3.2.3). Where search stops "
          "at a\n"
          "limit, keep=\"splits\" has those of all split points.")
      .def("__repr__", [](const py::object& self) {
        const auto& chart = self.cast<const Chart&>();
        return described("Chart", {{"spans", py::int_(chart.spans().size())},
                                   {"nodes", py::int_(chart.forest()->graph->node_count())}});
      });
}

}  // namespace hiero
