#include "bind_forest.h"
#include "hiero/forest/annotate.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/ngrams.h"
#include "hiero/metrics/ngram_matches.h"
#include "token_lists.h"

namespace hiero {
namespace {

// (edges, n) of counts row by row.
py::array_t<std::int32_t> as_matrix(const std::vector<std::int32_t>& values, std::int32_t columns) {
  const auto width = static_cast<py::ssize_t>(columns);
  return py::array_t<std::int32_t>({static_cast<py::ssize_t>(values.size()) / width, width}, values.data());
}

py::tuple ngram_matrix(const Forest& owner) {
  const Hypergraph& forest = *owner.graph;
  EdgeNgrams found;
  {
    const py::gil_scoped_release release;
    found = edge_ngrams(forest);
  }
  const py::array ones = py::module_::import("numpy").attr("ones")(found.ids.size());
  const py::object matrix =
      py::module_::import("scipy.sparse")
          .attr("csr_array")(py::make_tuple(ones, as_array(found.ids), as_array(found.offsets)),
                             py::arg("shape") = py::make_tuple(forest.edge_count(), found.ngrams.size()));
  matrix.attr("sum_duplicates")();
  return py::make_tuple(ngram_tuples(found, forest.words), matrix);
}

}  // namespace

py::list ngram_tuples(const EdgeNgrams& found, const std::vector<std::string>& vocabulary) {
  py::list ngrams;
  for (const auto& ngram : found.ngrams) {
    py::tuple words(ngram.size());
    for (std::size_t i = 0; i < ngram.size(); ++i) words[i] = vocabulary[ngram[i]];
    ngrams.append(words);
  }
  return ngrams;
}

void register_ngrams(py::class_<Forest, std::shared_ptr<Forest>>& forest) {
  forest
      .def(
          "annotate_ngrams",
          [](const Forest& f, std::int32_t n, std::int64_t max_edges, const py::object& scores,
             std::int32_t beam) {
            if ((beam > 0) == scores.is_none() || beam < 0)
              throw std::invalid_argument("annotate_ngrams: give scores and a beam of 1 or more, or neither");
            const std::vector<double> by_edge = beam > 0 ? edge_values(f, scores) : std::vector<double>();
            const py::gil_scoped_release release;
            return made_from(f, annotate_ngrams(f, n, {max_edges, beam, by_edge}));
          },
          py::arg("n"), py::kw_only(), py::arg("max_edges") = AnnotateOptions().max_edges,
          py::arg("scores") = py::none(), py::arg("beam") = 0,
          "A forest of the same derivations whose nodes, but for the root, know the first and last n - 1 "
          "words of\n"
          "all their strings, so that n-grams of up to n words can be counted by edge. Exact; with scores "
          "and a\n"
          "beam only so many variants of a node are kept, by best inside score. Raises ForestError where it "
          "would\n"
          "have over max_edges edges, ValueError for n that is not 1 to 100.")
      .def_property_readonly(
          "ngram_order", [](const Forest& f) { return f.graph->ngram_order; }, "n of annotate_ngrams, or 0.")
      .def_property_readonly(
          "node_boundaries",
          [](const py::object& self) {
            const Hypergraph& f = *self.cast<const Forest&>().graph;
            const py::ssize_t size = std::max(f.ngram_order - 1, 0);
            return view(f.node_boundaries, self, {f.ngram_order > 0 ? f.node_count() : 0, 2, size});
          },
          "int32 (nodes, 2, n - 1): first and last words as indices into `words`, -1 behind and before "
          "short\n"
          "strings; all -1 for the root.")
      .def("ngrams", &ngram_matrix,
           "(n-grams, counts): the n-grams of up to `ngram_order` words as tuples, and a csr_array (edges, "
           "n-grams)\n"
           "of how often each arises at an edge; sums over a derivation are the counts of its string.")
      .def(
          "ngram_matches",
          [](const Forest& f, const TokenLists& references) {
            NgramMatches found;
            {
              const py::gil_scoped_release release;
              found = ngram_matches(f, references.values);
            }
            return py::make_tuple(as_matrix(found.totals, f.graph->ngram_order),
                                  as_matrix(found.matches, f.graph->ngram_order));
          },
          py::arg("references"),
          "(totals, matches), int32 (edges, n) each: n-grams of 1, 2, ... words that arise at an edge, and "
          "those of\n"
          "them that occur in one of the references, unclipped.")
      .def_property_readonly(
          "target_words",
          [](const Forest& f) {
            std::vector<std::int32_t> words;
            for (EdgeIndex e = 0; e < f.graph->edge_count(); ++e) words.push_back(rule_words(f, e));
            return as_array(words);
          },
          "int32 (edges): target words that the edge's own rule makes.")
      .def_property_readonly(
          "covered_shares", [](const Forest& f) { return as_array(covered_shares(f)); },
          "float64 (edges): source words that the edge's own rule covers, by those of the root.");
}

}  // namespace hiero
