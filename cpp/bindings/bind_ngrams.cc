#include "bind_forest.h"
#include "hiero/forest/annotate.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/ngrams.h"
#include "hiero/metrics/ngram_matches.h"
#include "token_lists.h"

namespace hiero {
namespace {

// (edges, n) of counts row by row.
Array<std::int32_t> as_matrix(const std::vector<std::int32_t>& values, std::int32_t columns) {
  return as_array(values, {static_cast<Py_ssize_t>(values.size()) / columns, columns});
}

nb::tuple ngram_matrix(const Forest& owner) {
  const Hypergraph& forest = *owner.graph;
  EdgeNgrams found;
  {
    const nb::gil_scoped_release release;
    found = edge_ngrams(forest);
  }
  const nb::object ones = nb::module_::import_("numpy").attr("ones")(found.ids.size());
  const nb::object matrix =
      nb::module_::import_("scipy.sparse")
          .attr("csr_array")(nb::make_tuple(ones, as_array(found.ids), as_array(found.offsets)),
                             nb::arg("shape") = nb::make_tuple(forest.edge_count(), found.ngrams.size()));
  matrix.attr("sum_duplicates")();
  return nb::make_tuple(ngram_tuples(found, forest.words), matrix);
}

}  // namespace

nb::list ngram_tuples(const EdgeNgrams& found, const std::vector<std::string>& vocabulary) {
  nb::list ngrams;
  for (const auto& ngram : found.ngrams) {
    nb::list words;
    for (const std::int32_t word : ngram) words.append(vocabulary[word]);
    ngrams.append(nb::tuple(words));
  }
  return ngrams;
}

void register_ngrams(nb::class_<Forest>& forest) {
  forest
      .def(
          "annotate_ngrams",
          [](const Forest& f, std::int32_t n, std::int64_t max_edges, const nb::object& scores,
             std::int32_t beam) {
            if ((beam > 0) == scores.is_none() || beam < 0)
              throw std::invalid_argument("annotate_ngrams: give scores and a beam of 1 or more, or neither");
            const std::vector<double> by_edge = beam > 0 ? edge_values(f, scores) : std::vector<double>();
            const nb::gil_scoped_release release;
            return made_from(f, annotate_ngrams(f, n, {max_edges, beam, by_edge}));
          },
          nb::arg("n"), nb::kw_only(), nb::arg("max_edges") = AnnotateOptions().max_edges,
          nb::arg("scores") = nb::none(), nb::arg("beam") = 0,
          "A forest of the same derivations whose nodes, but for the root, know the first and last n - 1 "
          "words of\n"
          "all their strings, so that n-grams of up to n words can be counted by edge. Exact; with scores "
          "and a\n"
          "beam only so many variants of a node are kept, by best inside score. Raises ForestError where it "
          "would\n"
          "have over max_edges edges, ValueError for n that is not 1 to 100.")
      .def_prop_ro(
          "ngram_order", [](const Forest& f) { return f.graph->ngram_order; }, "n of annotate_ngrams, or 0.")
      .def_prop_ro(
          "node_boundaries",
          [](const nb::object& self) {
            const Hypergraph& f = *nb::cast<const Forest&>(self).graph;
            const Py_ssize_t size = std::max(f.ngram_order - 1, 0);
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
              const nb::gil_scoped_release release;
              found = ngram_matches(f, references.values);
            }
            return nb::make_tuple(as_matrix(found.totals, f.graph->ngram_order),
                                  as_matrix(found.matches, f.graph->ngram_order));
          },
          nb::arg("references"),
          "(totals, matches), int32 (edges, n) each: n-grams of 1, 2, ... words that arise at an edge, and "
          "those of\n"
          "them that occur in one of the references, unclipped.")
      .def_prop_ro(
          "target_words",
          [](const Forest& f) {
            std::vector<std::int32_t> words;
            for (EdgeIndex e = 0; e < f.graph->edge_count(); ++e) words.push_back(rule_words(f, e));
            return as_array(words);
          },
          "int32 (edges): target words that the edge's own rule makes.")
      .def_prop_ro(
          "covered_shares", [](const Forest& f) { return as_array(covered_shares(f)); },
          "float64 (edges): source words that the edge's own rule covers, by those of the root.");
}

}  // namespace hiero
