// Methods of Forest: scores, the best derivation, and forests made from others.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "bind_forest.h"
#include "conversions.h"
#include "hiero/forest/constrain.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/subforest.h"
#include "hiero/forest/union.h"
#include "token_lists.h"

namespace hiero {
namespace {

using ForestPtr = std::shared_ptr<Forest>;

Array<double> edge_scores_of(const Forest& forest, const EdgeValues& weights) {
  if (is_mapping(weights)) return as_array(edge_values(forest, weights));
  const Array<double> vector(weights);
  if (vector.ndim() != 1) throw std::invalid_argument("expected a vector");
  return as_array(edge_scores(forest, vector.values()));
}

Array<double> weighted_features(const Forest& forest, const Array<double>& factors) {
  if (factors.ndim() != 1) throw std::invalid_argument("expected a vector");
  // NumPy's zeros are allocated by calloc: pages of features that do not occur are never touched.
  auto sums = Array<double>::of(nb::module_::import_("numpy").attr("zeros")(forest.feature_names->size()));
  add_weighted_features(forest, factors.values(),
                        {sums.mutable_data(), static_cast<std::size_t>(sums.size())});
  return sums;
}

Annotated<"int"> count_derivations(const Forest& forest) {
  BigUnsigned count;
  {
    const nb::gil_scoped_release release;
    count = derivation_count(forest);
  }
  return to_python(count);
}

std::optional<Derivation> viterbi_derivation(const ForestPtr& forest, const EdgeValues& scores,
                                             std::optional<NodeIndex> node) {
  const NodeIndex top = node_or_root(*forest, node);
  const std::vector<double> by_edge = edge_values(*forest, scores);
  const nb::gil_scoped_release release;
  return best_derivation(forest, by_edge, top);
}

Derivation derivation_of_edges(const ForestPtr& forest, std::vector<EdgeIndex> edges,
                               const EdgeValues& scores, std::optional<NodeIndex> node) {
  const std::vector<double> by_edge = scores.is_none() ? std::vector<double>() : edge_values(*forest, scores);
  return checked_derivation(forest, node_or_root(*forest, node), std::move(edges), by_edge);
}

ForestPtr pruned(const Forest& forest, const EdgeValues& scores, std::optional<double> posterior,
                 std::optional<double> margin, std::optional<std::size_t> edges) {
  const std::vector<double> by_edge = edge_values(forest, scores);
  if (posterior.has_value() + margin.has_value() + edges.has_value() != 1)
    throw std::invalid_argument("prune: give one of posterior, margin and edges");
  const nb::gil_scoped_release release;
  if (edges) return made_from(forest, prune_by_count(forest, by_edge, *edges));
  if (margin) return made_from(forest, prune_by_margin(forest, by_edge, *margin));
  return made_from(forest, prune_by_posterior(forest, by_edge, *posterior));
}

ForestPtr forest_of_edges(const Forest& forest, const Array<bool>& keep) {
  const std::span<const bool> values = vector_values(keep, "keep");
  const std::vector<std::uint8_t> marks(values.begin(), values.end());
  const nb::gil_scoped_release release;
  return made_from(forest, subforest(forest, marks));
}

ForestPtr union_of_forests(const std::vector<ForestPtr>& forests) {
  if (std::ranges::find(forests, nullptr) != forests.end()) throw nb::type_error("union: None is no forest");
  const nb::gil_scoped_release release;
  return std::make_shared<Forest>(union_of(forests));
}

ForestPtr constrained(const Forest& forest, const TokenLists& references) {
  const nb::gil_scoped_release release;
  return made_from(forest, constrain(forest, references.values));
}

void register_scores(nb::class_<Forest>& forest) {
  forest
      .def("scores", &edge_scores_of, nb::arg("weights").none(), R"(Returns weights . features for every edge.

Args:
    weights: float64 (features) in the order of `feature_names`, or a mapping by name; a feature
        without a weight counts 0.

Returns:
    float64 (edges), natural log.

Raises:
    FormatError: A weight names no feature (of a forest with edges).
    ValueError: The vector does not have a weight per feature.)")
      .def("weighted_features", &weighted_features, nb::arg("factors"),
           R"(Returns the sum of the feature rows of all edges, each times a factor.

Args:
    factors: float64 (edges).

Returns:
    float64 (features).

Raises:
    ValueError: There is not one factor per edge.)")
      .def_prop_ro("derivation_count", &count_derivations,
                   R"(Number of derivations of the root, an int of any size.

Raises:
    ForestError: There are more than 2^(2^20).)");
}

void register_derivations(nb::class_<Forest>& forest) {
  forest
      .def("viterbi", &viterbi_derivation, nb::arg("scores").none(), nb::arg("node") = nb::none(),
           R"(Returns the derivation with the greatest sum of edge scores, ties by edge index.

Args:
    scores: float64 (edges), finite or -inf, or weights by feature name.
    node: The node to derive (default: the root).

Returns:
    The derivation, or None if there is none of a score above -inf.

Raises:
    ValueError: There is not one score per edge, or one is neither finite nor -inf.
    FormatError: A weight names no feature.
    IndexError: There is no such node.)")
      .def("derivation", &derivation_of_edges, nb::arg("edges"), nb::arg("scores") = nb::none(),
           nb::arg("node") = nb::none(), R"(Returns the derivation with these edges.

Args:
    edges: Edge indices in preorder, children in the order of tails.
    scores: float64 (edges), or weights by feature name; without them its score is 0.
    node: The node to derive (default: the root).

Raises:
    ForestError: The edges are not the preorder of a derivation of the node.
    IndexError: There is no such node.)");
}

void register_subforests(nb::class_<Forest>& forest) {
  forest
      .def("prune", &pruned, nb::arg("scores").none(), nb::kw_only(), nb::arg("posterior") = nb::none(),
           nb::arg("margin") = nb::none(), nb::arg("edges") = nb::none(),
           R"(Returns the forest without its worst edges, by one of three criteria.

The best derivation always stays; an empty forest stays empty.

Args:
    scores: float64 (edges), or weights by feature name.
    posterior: Least posterior of an edge that stays, 0 to 1.
    margin: Greatest difference (natural log) between the best derivation with an edge that stays
        and the best of all.
    edges: Greatest number of edges; those stay whose best derivations score highest.

Raises:
    ValueError: Not exactly one criterion is given, it is negative, or scores are not allowed; with
        `posterior` see also `distribution`.)")
      .def("subforest", &forest_of_edges, nb::arg("keep"),
           R"(Returns the forest of the derivations that use marked edges only.

Args:
    keep: bool (edges).

Raises:
    ValueError: There is not one mark per edge.)")
      .def_static("union", &union_of_forests, nb::arg("forests"),
                  R"(Returns the forest of all derivations of several forests of one sentence.

A derivation that several forests have appears once, with its features in the first of them.
Derivations are equal if they apply the same rules to the same spans; edges without a rule are equal
by target and features.

Raises:
    ValueError: There is no forest, or they are of different sentences.)")
      .def("constrain", &constrained, nb::arg("references"),
           R"(Returns the forest of the derivations that yield a reference (forced decoding).

Args:
    references: Token lists; a derivation has to yield one of them.

Returns:
    A forest, without nodes if no derivation yields a reference.)");
}

}  // namespace

NodeIndex node_or_root(const Hypergraph& forest, std::optional<NodeIndex> node) {
  if (!node) return forest.root;
  if (*node < 0 || *node >= forest.node_count()) {
    throw std::out_of_range("no node " + std::to_string(*node) + ", there are " +
                            std::to_string(forest.node_count()));
  }
  return *node;
}

void register_forest_algorithms(nb::class_<Forest>& forest) {
  register_scores(forest);
  register_derivations(forest);
  register_subforests(forest);
}

}  // namespace hiero
