#include "conversions.h"
#include "hiero/decode/chart.h"

namespace hiero {
namespace {

using Spans = std::vector<std::pair<std::int32_t, std::int32_t>>;

Spans chart_spans(const Chart& chart) {
  Spans out;
  for (const auto& [begin, end] : chart.spans()) out.emplace_back(begin, end);
  return out;
}

Derivation chart_derivation(const Chart& chart, NodeIndex node) {
  const NodeIndex count = chart.forest()->graph->node_count();
  if (node < 0 || node >= count)
    throw std::out_of_range("no node " + std::to_string(node) + ", there are " + std::to_string(count));
  return {chart.forest(), chart.scores()[static_cast<std::size_t>(node)], chart.derivation(node)};
}

Annotated<"dict[int, Derivation]"> chart_splits(const Chart& chart, std::int32_t begin, std::int32_t end) {
  nb::dict out;
  for (const Chart::Split& split : chart.splits({begin, end}))
    out[nb::int_(split.place)] = Derivation{chart.forest(), split.score, chart.derivation(split)};
  return nb::object(out);
}

template <class T>
auto chart_view(const std::vector<T>& (Chart::*values)() const) {
  return [values](const nb::object& self) { return view((nb::cast<const Chart&>(self).*values)(), self); };
}

}  // namespace

void register_chart(nb::module_& m) {
  define<Chart>(m, "Chart", R"(Chart of a sentence: the items that search left in every cell.

All items are nodes of one forest. Scores are those of the weights that the sentence was searched with.)")
      .def_prop_ro(
          "forest", [](const Chart& chart) { return chart.forest(); },
          "Forest of the items of all cells, including those that no complete derivation uses.")
      .def_prop_ro("survived", chart_view(&Chart::survived),
                   "Flag of each node, uint8 (nodes): 1 if the item survived pruning.")
      .def_prop_ro("completed", chart_view(&Chart::completed),
                   "Flag of each node, uint8 (nodes): 1 if the item was made after search had stopped, only\n"
                   "for its split point (with keep=\"splits\").")
      .def_prop_ro("scores", chart_view(&Chart::scores),
                   "Score of the best derivation of each node (natural log), float64 (nodes).")
      .def_prop_ro("edge_scores", chart_view(&Chart::edge_scores),
                   "weights . features of each edge (natural log), float64 (edges).")
      .def_prop_ro("spans", &chart_spans,
                   "All spans with an item, in order: first source word and the word past the last one.")
      .def(
          "nodes",
          [](const Chart& chart, std::int32_t begin, std::int32_t end) {
            return as_array(chart.nodes({begin, end}));
          },
          nb::arg("begin"), nb::arg("end"),
          R"(Returns the items of a span, of all labels, best first; the root is no item.

Args:
    begin: First source word.
    end: Source word past the last one.

Returns:
    int32, nodes; empty if the span has no item.)")
      .def("derivation", &chart_derivation, nb::arg("node"), R"(Returns the best derivation of a node.

Raises:
    IndexError: There is no such node.)")
      .def("splits", &chart_splits, nb::arg("begin"), nb::arg("end"),
           R"(Returns the best derivation of a span for each split point.

The split point of a derivation is the source position where the first nonterminal of its topmost rule
ends, leaving out unary rules (Zhai et al. 2015, section 3.2.3). Where search stops at a limit, only a
chart with keep="splits" has all split points.

Args:
    begin: First source word.
    end: Source word past the last one.

Returns:
    Derivations by split point, in order.)")
      .def("__repr__", [](const nb::object& self) {
        const auto& chart = nb::cast<const Chart&>(self);
        return described("Chart", {{"spans", nb::int_(chart.spans().size())},
                                   {"nodes", nb::int_(chart.forest()->graph->node_count())}});
      })
      .def("_repr_html_", &picture);
}

}  // namespace hiero
