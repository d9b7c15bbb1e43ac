// K-best lists of forests.
#include <mutex>

#include "bind_forest.h"
#include "conversions.h"
#include "hiero/forest/kbest.h"

namespace hiero {
namespace {

using ForestPtr = std::shared_ptr<Forest>;

struct KBestIterator {
  std::shared_ptr<const Forest> forest;
  KBest lazy;
  std::mutex mutex;  // threads may share an iterator

  KBestIterator(std::shared_ptr<const Forest> f, NodeIndex top, std::vector<double> scores, bool unique)
      : forest(std::move(f)), lazy(*forest, top, std::move(scores), unique) {}
};

std::optional<ScoredDerivation> locked_next(KBestIterator& iterator) {
  const nb::gil_scoped_release release;
  const std::lock_guard lock(iterator.mutex);
  return iterator.lazy.next();
}

Derivation next_derivation(KBestIterator& iterator) {
  std::optional<ScoredDerivation> next = locked_next(iterator);
  if (!next) throw nb::stop_iteration();
  return {iterator.forest, next->score, std::move(next->edges)};
}

std::vector<Derivation> kbest_list(const ForestPtr& forest, Py_ssize_t k, const EdgeValues& scores,
                                   Truth unique, std::optional<NodeIndex> node) {
  const std::size_t count = count_of(k, "k");
  const NodeIndex top = node_or_root(*forest, node);
  std::vector<double> by_edge = edge_values(*forest, scores);
  const nb::gil_scoped_release release;
  return kbest(forest, top, std::move(by_edge), count, unique);
}

KBestArrays kbest_as_arrays(const Forest& forest, Py_ssize_t k, const EdgeValues& scores, Truth unique,
                            std::optional<NodeIndex> node) {
  const std::size_t count = count_of(k, "k");
  const NodeIndex top = node_or_root(forest, node);
  std::vector<double> by_edge = edge_values(forest, scores);
  const nb::gil_scoped_release release;
  return kbest_arrays(forest, top, std::move(by_edge), count, unique);
}

std::unique_ptr<KBestIterator> kbest_iterator(const ForestPtr& forest, const EdgeValues& scores, Truth unique,
                                              std::optional<NodeIndex> node) {
  return std::make_unique<KBestIterator>(forest, node_or_root(*forest, node), edge_values(*forest, scores),
                                         unique);
}

void register_arrays(nb::module_& m) {
  define<KBestArrays>(m, "KBestArrays", "K-best list as arrays; see Forest.kbest_arrays.")
      .def(
          "__len__", [](const KBestArrays& list) { return list.scores.size(); },
          "Returns the number of derivations.")
      .def_prop_ro("scores", view_of(&KBestArrays::scores),
                   "Score of each derivation (natural log), best first: float64 (k).")
      .def_prop_ro("edge_offsets", view_of(&KBestArrays::edge_offsets),
                   "Offsets of the derivations in `edges`, int32 (k + 1).")
      .def_prop_ro("edges", view_of(&KBestArrays::edges),
                   "Edges of all derivations, each in preorder: int32.")
      .def_prop_ro("word_offsets", view_of(&KBestArrays::word_offsets),
                   "Offsets of the derivations' strings in `words`, int32 (k + 1).")
      .def_prop_ro("words", view_of(&KBestArrays::words),
                   "Target words of all derivations, int32: indices into the forest's `words`.")
      .def_prop_ro(
          "features",
          [](const nb::object& self) {
            const auto& list = nb::cast<const KBestArrays&>(self);
            return csr_view(list.features, list.feature_count, self);
          },
          "Feature sums of each derivation, a scipy.sparse.csr_array (k, features).");
}

}  // namespace

void register_kbest(nb::module_& m, nb::class_<Forest>& forest) {
  register_arrays(m);
  define<KBestIterator>(m, "KBestIterator", "Iterator over derivations, best first; see Forest.kbest_iter.")
      .def("__iter__", [](const nb::object& self) { return Annotated<"KBestIterator">(self); })
      .def("__next__", &next_derivation);
  forest
      .def("kbest", &kbest_list, nb::arg("k"), nb::arg("scores").none(), nb::arg("unique") = false,
           nb::arg("node") = nb::none(),
           R"(Returns the k best derivations, best first (Huang and Chiang 2005, Algorithm 3).

Args:
    k: Number of derivations; fewer are returned where no more score above -inf.
    scores: float64 (edges), finite or -inf, or weights by feature name.
    unique: Return only the best derivation of every target string.
    node: The node to derive (default: the root).

Raises:
    ValueError: k is negative, or scores are not allowed (see `viterbi`).
    FormatError: A weight names no feature.
    IndexError: There is no such node.)")
      .def("kbest_arrays", &kbest_as_arrays, nb::arg("k"), nb::arg("scores").none(),
           nb::arg("unique") = false, nb::arg("node") = nb::none(),
           R"(Returns the k best derivations as arrays, which is faster than a list of objects.

Args:
    k: Number of derivations; fewer are returned where no more score above -inf.
    scores: float64 (edges), finite or -inf, or weights by feature name.
    unique: Return only the best derivation of every target string.
    node: The node to derive (default: the root).

Raises:
    ValueError: k is negative, or scores are not allowed (see `viterbi`).
    FormatError: A weight names no feature.
    IndexError: There is no such node.
    ForestError: An array would have more than 2^31 - 1 entries.)")
      .def("kbest_iter", &kbest_iterator, nb::arg("scores").none(), nb::arg("unique") = false,
           nb::arg("node") = nb::none(),
           R"(Returns an iterator over derivations, best first, which are computed as they are asked for.

Args:
    scores: float64 (edges), finite or -inf, or weights by feature name.
    unique: Yield only the best derivation of every target string.
    node: The node to derive (default: the root).

Raises:
    ValueError: Scores are not allowed (see `viterbi`).
    FormatError: A weight names no feature.
    IndexError: There is no such node.)");
}

}  // namespace hiero
