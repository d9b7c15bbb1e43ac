// Forests annotated with the words at both ends of their nodes' strings, and the n-grams of their edges.
#include <tuple>

#include "bind_forest.h"
#include "conversions.h"
#include "hiero/forest/annotate.h"
#include "hiero/forest/edge_values.h"
#include "hiero/metrics/ngram_matches.h"
#include "ngram_tuples.h"
#include "token_lists.h"

namespace hiero {
namespace {

std::shared_ptr<Forest> annotated(const Forest& forest, std::int32_t n, std::int64_t max_edges,
                                  const EdgeValues& scores, std::int32_t beam) {
  if ((beam > 0) == scores.is_none() || beam < 0)
    throw std::invalid_argument("annotate_ngrams: give scores and a beam of 1 or more, or neither");
  const std::vector<double> by_edge = beam > 0 ? edge_values(forest, scores) : std::vector<double>();
  const nb::gil_scoped_release release;
  return made_from(forest, annotate_ngrams(forest, n, {max_edges, beam, by_edge}));
}

View<std::int32_t> node_boundaries(const nb::object& self) {
  const Hypergraph& forest = *nb::cast<const Forest&>(self).graph;
  const Py_ssize_t size = std::max(forest.ngram_order - 1, 0);
  return view(forest.node_boundaries, self, {forest.ngram_order > 0 ? forest.node_count() : 0, 2, size});
}

std::tuple<Annotated<"list[tuple[str, ...]]">, SparseMatrix> ngram_matrix(const Forest& forest) {
  EdgeNgrams ngrams;
  {
    const nb::gil_scoped_release release;
    ngrams = edge_ngrams(forest);
  }
  const nb::object ones = nb::module_::import_("numpy").attr("ones")(ngrams.ids.size());
  const nb::object matrix =
      nb::module_::import_("scipy.sparse")
          .attr("csr_array")(
              nb::make_tuple(ones, as_array(ngrams.ids), as_array(ngrams.offsets)),
              nb::arg("shape") = nb::make_tuple(forest.graph->edge_count(), ngrams.ngrams.size()));
  matrix.attr("sum_duplicates")();
  return {ngram_tuples(ngrams, forest), matrix};
}

std::tuple<Array<std::int32_t>, Array<std::int32_t>> reference_matches(const Forest& forest,
                                                                       const TokenLists& references) {
  NgramMatches matches;
  {
    const nb::gil_scoped_release release;
    matches = ngram_matches(forest, references.values);
  }
  const Shape shape{forest.graph->edge_count(), forest.graph->ngram_order};
  return {as_array(matches.totals, shape), as_array(matches.matches, shape)};
}

}  // namespace

void register_ngrams(nb::class_<Forest>& forest) {
  forest
      .def("annotate_ngrams", &annotated, nb::arg("n"), nb::kw_only(),
           nb::arg("max_edges") = AnnotateOptions().max_edges, nb::arg("scores") = nb::none(),
           nb::arg("beam") = 0,
           R"(Returns a forest of the same derivations whose n-grams can be counted edge by edge.

All strings of one of its nodes, but for the root, have the same first and last n - 1 words. The
forest is exact, unless a beam keeps only some of the nodes that one node is split into.

Args:
    n: Greatest length of n-grams, 1 to 100.
    max_edges: Greatest number of edges of the result.
    scores: float64 (edges), or weights by feature name; for a beam only.
    beam: Number of nodes to keep of those that a node is split into, by best inside score
        (default: all).

Raises:
    ForestError: The forest would have more than max_edges edges.
    ValueError: n is out of range, or only one of scores and beam is given.)")
      .def_prop_ro(
          "ngram_order", [](const Forest& f) { return f.graph->ngram_order; },
          "Greatest length n of the n-grams that the forest is annotated with; 0: not annotated.")
      .def_prop_ro(
          "node_boundaries", &node_boundaries,
          "First and last n - 1 words of each node's strings, int32 (nodes, 2, n - 1): indices into\n"
          "`words`, and -1 behind and before shorter strings and for the root.")
      .def("ngrams", &ngram_matrix,
           R"(Returns the n-grams of an annotated forest and how often each arises at each edge.

The sum over a derivation's edges is the number of times that its string has the n-gram.

Returns:
    ngrams: The n-grams of up to `ngram_order` words, as tuples.
    counts: scipy.sparse.csr_array (edges, n-grams).

Raises:
    ValueError: The forest is not annotated (see `annotate_ngrams`).)")
      .def("ngram_matches", &reference_matches, nb::arg("references"),
           R"(Returns the numbers of n-grams that arise at each edge, and of those that match references.

Matches are not clipped: an n-gram of a reference matches as often as it arises (Tromble et al. 2008).

Args:
    references: Token lists.

Returns:
    totals: int32 (edges, n), n-grams of 1, 2, ... words.
    matches: int32 (edges, n), those of them that occur in a reference.

Raises:
    ValueError: The forest is not annotated (see `annotate_ngrams`).)")
      .def_prop_ro(
          "target_words", [](const Forest& f) { return as_array(rule_words(f)); },
          "Number of target words in each edge's own rule, int32 (edges).")
      .def_prop_ro(
          "covered_shares", [](const Forest& f) { return as_array(covered_shares(f)); },
          "Share of the source sentence that each edge's own rule covers, float64 (edges): the sum over a\n"
          "derivation is 1.");
}

}  // namespace hiero
