#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "bind_forest.h"
#include "hiero/forest/constrain.h"
#include "hiero/forest/decisions.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"
#include "hiero/forest/kbest.h"
#include "hiero/forest/ngram_posteriors.h"
#include "hiero/forest/sampling.h"
#include "hiero/forest/subforest.h"
#include "hiero/forest/union.h"
#include "token_lists.h"

namespace hiero {
namespace {

using ForestPtr = std::shared_ptr<Forest>;

// A forest's distribution with what it needs kept alive.
struct BoundDistribution {
  std::shared_ptr<const Forest> forest;
  std::vector<double> scores;
  Distribution p;

  BoundDistribution(std::shared_ptr<const Forest> f, std::vector<double> s)
      : forest(std::move(f)), scores(std::move(s)), p(*forest, scores) {}
};

// The node that derivations are asked for of: the root unless one is given. Throws std::out_of_range for one
// that there is not.
NodeIndex top_of(const Hypergraph& forest, std::optional<NodeIndex> node) {
  if (!node) return forest.root;
  if (*node < 0 || *node >= forest.node_count())
    throw std::out_of_range("no node " + std::to_string(*node) + ", there are " +
                            std::to_string(forest.node_count()));
  return *node;
}

std::vector<double> logs(const std::vector<Scaled>& values) {
  std::vector<double> out;
  for (const Scaled value : values) out.push_back(value.log_abs());
  return out;
}

void register_kbest(nb::module_& m) {
  define<KBestArrays>(m, "KBestArrays", "A k-best list as arrays; see Forest.kbest_arrays.")
      .def("__len__", [](const KBestArrays& list) { return list.scores.size(); })
      .def_prop_ro("scores", view_of(&KBestArrays::scores), "float64 (k), best first.")
      .def_prop_ro("edge_offsets", view_of(&KBestArrays::edge_offsets), "int32 (k + 1).")
      .def_prop_ro("edges", view_of(&KBestArrays::edges),
                   "int32: edges of each derivation in preorder, at edge_offsets.")
      .def_prop_ro("word_offsets", view_of(&KBestArrays::word_offsets), "int32 (k + 1).")
      .def_prop_ro("words", view_of(&KBestArrays::words),
                   "int32: target words as indices into the forest's `words`, at word_offsets.")
      .def_prop_ro(
          "features",
          [](const nb::object& self) {
            const auto& list = nb::cast<const KBestArrays&>(self);
            const nb::tuple parts =
                nb::make_tuple(view(list.features.values, self), view(list.features.ids, self),
                               view(list.features.offsets, self));
            return nb::module_::import_("scipy.sparse")
                .attr("csr_array")(parts,
                                   nb::arg("shape") = nb::make_tuple(list.scores.size(), list.feature_count));
          },
          "scipy.sparse.csr_array (k, features): feature sums.");

  struct Iterator {
    std::shared_ptr<const Forest> forest;
    KBest lazy;
    std::mutex busy;  // threads may share an iterator

    Iterator(std::shared_ptr<const Forest> f, NodeIndex top, std::vector<double> scores, bool unique)
        : forest(std::move(f)), lazy(*forest, top, std::move(scores), unique) {}
  };
  define<Iterator>(m, "KBestIterator")
      .def("__iter__", [](const nb::object& self) { return self; })
      .def("__next__", [](Iterator& it) {
        std::optional<ScoredDerivation> next;
        {
          const nb::gil_scoped_release release;
          const std::lock_guard lock(it.busy);
          next = it.lazy.next();
        }
        if (!next) throw nb::stop_iteration();
        return Derivation{it.forest, next->score, std::move(next->edges)};
      });
  nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
      .def(
          "kbest_iter",
          [](const ForestPtr& forest, const nb::object& scores, Truth unique, std::optional<NodeIndex> node) {
            return std::make_unique<Iterator>(forest, top_of(*forest, node), edge_values(*forest, scores),
                                              unique);
          },
          nb::arg("scores").none(), nb::arg("unique") = false, nb::arg("node") = nb::none(),
          "Derivations one after the other, best first, for as long as they are asked for.");
}

nb::tuple ngram_table(const BoundDistribution& d) {
  EdgeNgrams found;
  std::vector<double> posteriors;
  std::vector<double> expectations;
  {
    const nb::gil_scoped_release release;
    found = edge_ngrams(*d.forest);
    posteriors = ngram_posteriors(d.p, found);
    expectations = ngram_expectations(d.p, found);
  }
  return nb::make_tuple(ngram_tuples(found, d.forest->graph->words), as_array(posteriors),
                        as_array(expectations));
}

// The result of work without the GIL as an array.
template <class Work>
Array<double> released(const Work& work) {
  std::vector<double> out;
  {
    const nb::gil_scoped_release release;
    out = work();
  }
  return as_array(out);
}

// Of a value per edge.
auto of_values(std::vector<double> (Distribution::*work)(std::span<const double>) const) {
  return [work](const BoundDistribution& d, const Array<double>& values) {
    if (values.ndim() != 1) throw std::invalid_argument("values: expected a vector");
    return released([&] { return (d.p.*work)(values.values()); });
  };
}

void register_distribution(nb::module_& m) {
  define<BoundDistribution>(
      m, "Distribution",
      "The distribution exp(score(d)) / Z over a forest's derivations (Li and Eisner 2009); see\n"
      "Forest.distribution and hiero.forest.")
      .def_prop_ro("forest", [](const BoundDistribution& d) { return d.forest; })
      .def_prop_ro("scores", view_of(&BoundDistribution::scores), "float64 (edges): log weights.")
      .def_prop_ro("log_z", [](const BoundDistribution& d) { return d.p.log_z(); })
      .def_prop_ro(
          "edges",
          [](const nb::object& self) {
            return view(nb::cast<const BoundDistribution&>(self).p.edges(), self);
          },
          "float64 (edges): posteriors; expected uses where a derivation may use an edge twice.")
      .def_prop_ro(
          "nodes",
          [](const nb::object& self) {
            return view(nb::cast<const BoundDistribution&>(self).p.nodes(), self);
          },
          "float64 (nodes): posteriors, likewise.")
      .def_prop_ro(
          "shares",
          [](const nb::object& self) {
            return view(nb::cast<const BoundDistribution&>(self).p.shares(), self);
          },
          "float64 (edges): probability of an edge among those with its head, given the head.")
      .def_prop_ro(
          "inside", [](const BoundDistribution& d) { return as_array(logs(d.p.inside())); },
          "float64 (nodes): natural logs.")
      .def_prop_ro(
          "outside",
          [](const BoundDistribution& d) {
            return released([&] {
              const auto weight = [&](EdgeIndex e) { return Scaled::exp(d.scores[e]); };
              return logs(outside(*d.forest, ScaledSemiring(), weight, d.p.inside()));
            });
          },
          "float64 (nodes): natural logs; -inf for nodes that no derivation of the root uses.")
      .def("edge_expectations", of_values(&Distribution::edge_expectations), nb::arg("values"),
           "float64 (edges): posterior times the expected sum of `values` over a derivation, given that it "
           "uses\n"
           "the edge; a use counts as often as it happens. Inside-outside in E_{P,R} (Li and Eisner 2009, "
           "section\n"
           "4.4).")
      .def("edge_second_moments", of_values(&Distribution::edge_second_moments), nb::arg("values"),
           "float64 (edges): the same of the square of that sum.")
      .def(
          "sample",
          [](const BoundDistribution& d, std::size_t count, std::uint64_t seed) {
            const nb::gil_scoped_release release;
            std::vector<Derivation> out;
            for (auto& edges : sample(d.p, count, seed)) {
              const double score = total(d.scores, edges);
              out.push_back({d.forest, score, std::move(edges)});
            }
            return out;
          },
          nb::arg("count"), nb::arg("seed"), "Independent derivations; the same for the same seed.")
      .def("ngrams", &ngram_table,
           "Of an annotated forest (ngrams, posteriors, expectations): its n-grams of up to `ngram_order` "
           "words\n"
           "as tuples, and float64 (n-grams) each: the probability that a derivation's string has it, "
           "exactly,\n"
           "and its expected number (Tromble et al. 2008).")
      .def(
          "mbr_values",
          [](const BoundDistribution& d, const std::vector<double>& theta) {
            return released([&] { return mbr_values(d.p, theta); });
          },
          nb::arg("theta"),
          "float64 (edges), whose best derivation has the greatest expected linear BLEU (Tromble et al. "
          "2008):\n"
          "theta[0] a word and theta[n] times the probability that it occurs an n-gram. Raises ValueError "
          "unless\n"
          "the forest is annotated with len(theta) - 1 words or more.")
      .def(
          "variational_values",
          [](const BoundDistribution& d, std::int32_t order) {
            return released([&] { return variational_values(d.p, order); });
          },
          nb::arg("order"),
          "float64 (edges), whose sum over a derivation is log q of its string: q is the n-gram model of "
          "that\n"
          "order that is nearest to the distribution by KL(p || q) (Li, Eisner and Khudanpur 2009). Raises\n"
          "ValueError unless the forest is annotated with that order or more.");
}

}  // namespace

void register_forest_algorithms(nb::class_<Forest>& forest, nb::module_& m) {
  forest
      .def_static(
          "from_arrays", &from_arrays,
          "A forest of the arrays that forests have as attributes, by name. Needed are edge_offsets,\n"
          "tail_offsets and tails; by default there are no spans, labels, rules, words and features, and\n"
          "every edge joins the yields of its tails. `features` is a matrix (edges, features), dense or\n"
          "sparse, and wants `feature_names`. Lattices are forests whose edges have one tail, but for\n"
          "those into the first node. Raises ForestError saying what is wrong: see validate.h.")
      .def("with_features", &with_features, nb::arg("features"), nb::arg("feature_names"),
           "The same forest with other features: a matrix (edges, features), dense or sparse, and their "
           "names.\n"
           "All else is shared. Raises ForestError as from_arrays does.")
      .def(
          "scores",
          [](const Forest& f, const nb::object& weights) {
            if (nb::isinstance(weights, nb::module_::import_("collections.abc").attr("Mapping")))
              return as_array(edge_values(f, weights));
            const Array<double> vector(weights);
            if (vector.ndim() != 1) throw std::invalid_argument("expected a vector");
            return as_array(edge_scores(f, vector.values()));
          },
          nb::arg("weights").none(),
          "float64 (edges): weights . features; `weights` in the order of feature_names, or by name: a\n"
          "feature without one counts 0. Raises FormatError for a weight that names no feature of a forest\n"
          "with edges.")
      .def(
          "weighted_features",
          [](const Forest& f, const Array<double>& factors) {
            if (factors.ndim() != 1) throw std::invalid_argument("expected a vector");
            // By calloc, so that pages of features that do not occur are never touched.
            auto sums =
                Array<double>::of(nb::module_::import_("numpy").attr("zeros")(f.feature_names->size()));
            add_weighted_features(f, factors.values(),
                                  {sums.mutable_data(), static_cast<std::size_t>(sums.size())});
            return sums;
          },
          nb::arg("factors"), "float64 (features): the sum over edges of factor times feature row.")
      .def_prop_ro(
          "derivation_count",
          [](const Forest& f) {
            BigUnsigned count;
            {
              const nb::gil_scoped_release release;
              count = derivation_count(f);
            }
            return to_python(count);
          },
          "int: the number of derivations. Raises ForestError beyond 2^(2^20).")
      .def(
          "viterbi",
          [](const ForestPtr& f, const nb::object& scores,
             std::optional<NodeIndex> node) -> std::optional<Derivation> {
            const NodeIndex top = top_of(*f, node);
            const std::vector<double> by_edge = edge_values(*f, scores);
            const nb::gil_scoped_release release;
            std::vector<EdgeIndex> edges = viterbi(*f, by_edge, top);
            if (edges.empty()) return std::nullopt;
            return Derivation{f, total(by_edge, edges), std::move(edges)};
          },
          nb::arg("scores").none(), nb::arg("node") = nb::none(),
          "The best derivation of the root, or of a node, ties by edge index; None if there is none of a "
          "score\n"
          "above -inf. Raises ValueError for scores that are neither finite nor -inf, IndexError for no "
          "node.")
      .def(
          "kbest",
          [](const ForestPtr& f, Py_ssize_t k, const nb::object& scores, Truth unique,
             std::optional<NodeIndex> node) {
            const std::size_t count = count_of(k, "k");
            const NodeIndex top = top_of(*f, node);
            std::vector<double> by_edge = edge_values(*f, scores);
            const nb::gil_scoped_release release;
            return kbest(f, top, std::move(by_edge), count, unique, allow_interrupt);
          },
          nb::arg("k"), nb::arg("scores").none(), nb::arg("unique") = false, nb::arg("node") = nb::none(),
          "The k best derivations of the root, or of a node, under the given edge scores, best first (Huang "
          "and\n"
          "Chiang 2005, Algorithm 3), of scores above -inf; `unique` keeps the best derivation of every "
          "string.\n"
          "Raises as viterbi does, and ValueError for a negative k.")
      .def(
          "kbest_arrays",
          [](const Forest& f, Py_ssize_t k, const nb::object& scores, Truth unique,
             std::optional<NodeIndex> node) {
            const std::size_t count = count_of(k, "k");
            const NodeIndex top = top_of(f, node);
            std::vector<double> by_edge = edge_values(f, scores);
            const nb::gil_scoped_release release;
            return kbest_arrays(f, top, std::move(by_edge), count, unique, allow_interrupt);
          },
          nb::arg("k"), nb::arg("scores").none(), nb::arg("unique") = false, nb::arg("node") = nb::none(),
          "The same as arrays.")
      .def(
          "derivation",
          [](const ForestPtr& f, std::vector<EdgeIndex> edges, const nb::object& scores,
             std::optional<NodeIndex> node) {
            check_derivation(*f, top_of(*f, node), edges);
            const double score = scores.is_none() ? 0.0 : total(edge_values(*f, scores), edges);
            return Derivation{f, score, std::move(edges)};
          },
          nb::arg("edges"), nb::arg("scores") = nb::none(), nb::arg("node") = nb::none(),
          "The derivation of the root, or of a node, with these edges in preorder. Raises ForestError if it "
          "is\n"
          "none.")
      .def(
          "distribution",
          [](const ForestPtr& f, const nb::object& scores) {
            std::vector<double> by_edge = edge_values(*f, scores);
            const nb::gil_scoped_release release;
            return std::make_shared<BoundDistribution>(f, std::move(by_edge));
          },
          nb::arg("scores").none(),
          "The distribution exp(score(d)) / Z over derivations. Raises ValueError for scores that are "
          "neither\n"
          "of at most 1e12 in size nor -inf, and where no derivation has positive weight.")
      .def(
          "prune",
          [](const ForestPtr& f, const nb::object& scores, std::optional<double> posterior,
             std::optional<double> margin, std::optional<std::size_t> edges) {
            const std::vector<double> by_edge = edge_values(*f, scores);
            if (posterior.has_value() + margin.has_value() + edges.has_value() != 1)
              throw std::invalid_argument("prune: give one of posterior, margin and edges");
            const nb::gil_scoped_release release;
            if (edges) return made_from(*f, prune_by_count(*f, by_edge, *edges));
            if (margin) return made_from(*f, prune_by_margin(*f, by_edge, *margin));
            if (f->graph->root < 0) return made_from(*f, empty_copy(*f));
            return made_from(*f, prune_by_posterior(Distribution(*f, by_edge), by_edge, *posterior));
          },
          nb::arg("scores").none(), nb::kw_only(), nb::arg("posterior") = nb::none(),
          nb::arg("margin") = nb::none(), nb::arg("edges") = nb::none(),
          "The forest without edges of lower posterior, or without edges whose best derivation scores worse\n"
          "than the best of all by more than the margin, or with at most so many edges, those whose best\n"
          "derivations are nearest. The best derivation always stays; an empty forest stays empty. Raises\n"
          "ValueError for scores that distribution refuses and a negative posterior or margin.")
      .def(
          "subforest",
          [](const Forest& f, const Array<bool>& keep) {
            if (keep.ndim() != 1) throw std::invalid_argument("keep: expected a vector");
            const std::vector<std::uint8_t> marks(keep.values().begin(), keep.values().end());
            const nb::gil_scoped_release release;
            return made_from(f, subforest(f, marks));
          },
          nb::arg("keep"), "The derivations that use only the marked edges.")
      .def_static(
          "union",
          [](const std::vector<ForestPtr>& forests) {
            if (std::ranges::find(forests, nullptr) != forests.end())
              throw nb::type_error("union: None is no forest");
            const nb::gil_scoped_release release;
            return std::make_shared<Forest>(union_of(forests));
          },
          nb::arg("forests"),
          "The derivations of any of several forests of one sentence, each once; they are the same by their "
          "rules,\n"
          "and edges without a rule by target and features. Raises ValueError for none or for different "
          "sentences.")
      .def(
          "constrain",
          [](const Forest& f, const TokenLists& references) {
            const nb::gil_scoped_release release;
            return made_from(f, constrain(f, references.values));
          },
          nb::arg("references"),
          "Forced decoding: the derivations that yield one of the references, each a list of tokens.");
  register_ngrams(forest);
  register_distribution(m);
  register_kbest(m);
}

}  // namespace hiero
