#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/constrain.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/inside_outside.h"
#include "hiero/forest/kbest.h"
#include "hiero/forest/losses.h"
#include "hiero/forest/ngrams.h"
#include "hiero/forest/sampling.h"
#include "hiero/forest/subforest.h"
#include "hiero/forest/validate.h"

namespace hiero {
namespace {

using ForestPtr = std::shared_ptr<Hypergraph>;

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Integers of an argument, each of which T must be able to hold.
template <class T>
std::vector<T> integers(const py::object& argument, const char* name) {
  const py::array array = py::array::ensure(argument);
  if (!array) throw py::error_already_set();
  if (array.size() > 0 && array.dtype().kind() != 'i' && array.dtype().kind() != 'u')
    throw ForestError(std::string("forest: ") + name + ": expected integers");
  const py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> wide(array);
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(wide.size()));
  for (py::ssize_t i = 0; i < wide.size(); ++i) {
    const std::int64_t value = wide.data()[i];
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
      throw ForestError(std::string("forest: ") + name + ": " + std::to_string(value) + " is out of range");
    out.push_back(static_cast<T>(value));
  }
  return out;
}

template <class T>
void take(std::vector<T>& member, const py::dict& arrays, const char* name) {
  if (arrays.contains(name)) member = integers<T>(arrays[name], name);
}

void take(std::vector<std::string>& member, const py::dict& arrays, const char* name) {
  if (!arrays.contains(name)) return;
  try {
    member = arrays[name].cast<std::vector<std::string>>();
  } catch (const py::cast_error&) {
    throw ForestError(std::string("forest: ") + name + ": expected strings");
  }
}

FeatureRows feature_rows(const py::dict& arrays, std::size_t edges) {
  FeatureRows rows;
  if (!arrays.contains("features")) {
    rows.offsets.assign(edges + 1, 0);
    return rows;
  }
  const py::object matrix = py::module_::import("scipy.sparse").attr("csr_array")(arrays["features"]);
  const auto [height, width] = matrix.attr("shape").cast<std::pair<std::size_t, std::size_t>>();
  const std::size_t names = arrays.contains("feature_names") ? py::len(arrays["feature_names"]) : 0;
  if (height != edges || width != names) {
    throw ForestError("forest: features: expected a matrix of " + std::to_string(edges) + " edges by " +
                      std::to_string(names) + " feature names, found " + std::to_string(height) + " by " +
                      std::to_string(width));
  }
  rows.offsets = integers<std::int32_t>(matrix.attr("indptr"), "features");
  rows.ids = integers<std::int32_t>(matrix.attr("indices"), "features");
  const DoubleVector values(matrix.attr("data"));
  rows.values.assign(values.data(), values.data() + values.size());
  return rows;
}

// Where no targets are given, every edge joins what its tails yield.
void join_tails(Hypergraph& forest, TargetTemplates& targets) {
  targets.offsets = {0};
  std::vector<std::int32_t> of_arity;
  forest.edge_targets.clear();
  for (std::size_t e = 0; e + 1 < forest.tail_offsets.size(); ++e) {
    const auto arity =
        static_cast<std::size_t>(std::max(forest.tail_offsets[e + 1] - forest.tail_offsets[e], 0));
    if (arity > forest.tails.size()) throw ForestError("forest: tail_offsets: out of range");
    if (arity >= of_arity.size()) of_arity.resize(arity + 1, -1);
    if (of_arity[arity] < 0) {
      of_arity[arity] = targets.size();
      for (std::size_t i = 0; i < arity; ++i) targets.symbols.push_back(-1 - static_cast<std::int32_t>(i));
      targets.offsets.push_back(static_cast<std::int32_t>(targets.symbols.size()));
    }
    forest.edge_targets.push_back(of_arity[arity]);
  }
}

ForestPtr from_arrays(const py::kwargs& arrays) {
  static const char* const kNames[] = {
      "edge_offsets", "tail_offsets",  "tails",          "node_spans",     "node_labels",  "edge_tables",
      "edge_rules",   "edge_targets",  "target_offsets", "target_symbols", "link_offsets", "links",
      "features",     "feature_names", "source",         "words",          "labels",       "tables"};
  for (const auto& [name, value] : arrays) {
    if (std::ranges::find(kNames, name.cast<std::string>()) == std::end(kNames))
      throw py::type_error("from_arrays() got an unexpected argument '" + name.cast<std::string>() + "'");
  }
  for (const char* const name : {"edge_offsets", "tail_offsets", "tails"}) {
    if (!arrays.contains(name))
      throw py::type_error(std::string("from_arrays() lacks the argument '") + name + "'");
  }
  auto forest = std::make_shared<Hypergraph>();
  auto targets = std::make_shared<TargetTemplates>();
  take(forest->edge_offsets, arrays, "edge_offsets");
  take(forest->tail_offsets, arrays, "tail_offsets");
  take(forest->tails, arrays, "tails");
  const std::size_t nodes = std::max<std::size_t>(forest->edge_offsets.size(), 1) - 1;
  const std::size_t edges = std::max<std::size_t>(forest->tail_offsets.size(), 1) - 1;
  forest->root = static_cast<NodeIndex>(nodes) - 1;
  forest->node_spans.assign(2 * nodes, 0);
  forest->node_labels.assign(nodes, -1);
  forest->edge_tables.assign(edges, -1);
  forest->edge_rules.assign(edges, -1);
  take(forest->node_spans, arrays, "node_spans");
  take(forest->node_labels, arrays, "node_labels");
  take(forest->edge_tables, arrays, "edge_tables");
  take(forest->edge_rules, arrays, "edge_rules");
  take(forest->source, arrays, "source");
  take(forest->words, arrays, "words");
  take(forest->labels, arrays, "labels");
  take(forest->tables, arrays, "tables");
  auto names = std::make_shared<std::vector<std::string>>();
  take(*names, arrays, "feature_names");
  forest->feature_names = names;
  take(forest->edge_targets, arrays, "edge_targets");
  take(targets->offsets, arrays, "target_offsets");
  take(targets->symbols, arrays, "target_symbols");
  if (!arrays.contains("edge_targets")) join_tails(*forest, *targets);
  targets->link_offsets.assign(std::max<std::size_t>(targets->offsets.size(), 1), 0);
  take(targets->link_offsets, arrays, "link_offsets");
  take(targets->links, arrays, "links");
  forest->targets = targets;
  forest->features = std::make_shared<FeatureRows>(feature_rows(arrays, edges));
  validate(*forest);
  return forest;
}

// A forest's distribution with what it needs kept alive.
struct BoundDistribution {
  std::shared_ptr<const Hypergraph> forest;
  std::vector<double> scores;
  Distribution p;

  BoundDistribution(std::shared_ptr<const Hypergraph> f, std::vector<double> s)
      : forest(std::move(f)), scores(std::move(s)), p(*forest, scores) {}
};

std::vector<double> logs(const std::vector<Scaled>& values) {
  std::vector<double> out;
  for (const Scaled value : values) out.push_back(value.log_abs());
  return out;
}

double total(std::span<const double> scores, std::span<const EdgeIndex> edges) {
  double sum = 0;
  for (const EdgeIndex e : edges) sum += scores[e];
  return sum;
}

// Throws ForestError unless the edges are the preorder of a derivation of the root.
void check_derivation(const Hypergraph& forest, std::span<const EdgeIndex> edges) {
  std::vector<NodeIndex> open;
  if (forest.root >= 0) open.push_back(forest.root);
  for (const EdgeIndex e : edges) {
    if (e < 0 || e >= forest.edge_count()) throw ForestError("derivation: no edge " + std::to_string(e));
    if (open.empty() || head_of(forest, e) != open.back())
      throw ForestError("derivation: edge " + std::to_string(e) + " does not belong where it stands");
    open.pop_back();
    const auto tails = forest.edge_tails(e);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
  }
  if (!open.empty()) throw ForestError("derivation: edges are missing");
}

// Derivations and their strings and features side by side.
struct KBestArrays {
  std::vector<double> scores;
  std::vector<std::int32_t> edge_offsets{0}, edges, word_offsets{0}, words;
  FeatureRows features{{0}, {}, {}};
  std::size_t feature_count = 0;
};

KBestArrays kbest_arrays(const Hypergraph& forest, std::size_t k, std::vector<double> scores, bool unique) {
  KBest lazy(forest, std::move(scores), unique);
  KBestArrays out;
  out.feature_count = forest.feature_names->size();
  const auto offset = [](std::size_t size) {
    if (size > 0x7FFFFFFF) throw ForestError("k-best lists: over 2^31 - 1 array entries");
    return static_cast<std::int32_t>(size);
  };
  while (out.scores.size() < k) {
    const auto next = lazy.next();
    if (!next) break;
    out.scores.push_back(next->score);
    out.edges.insert(out.edges.end(), next->edges.begin(), next->edges.end());
    out.edge_offsets.push_back(offset(out.edges.size()));
    const std::vector<std::int32_t> words = yield_words(forest, next->edges);
    out.words.insert(out.words.end(), words.begin(), words.end());
    out.word_offsets.push_back(offset(out.words.size()));
    for (const auto& [feature, value] : feature_sums(forest, next->edges)) {
      out.features.ids.push_back(feature);
      out.features.values.push_back(value);
    }
    out.features.offsets.push_back(offset(out.features.ids.size()));
  }
  return out;
}

// (edges, n) of counts row by row.
py::array_t<std::int32_t> as_matrix(const std::vector<std::int32_t>& values, std::int32_t columns) {
  const auto width = static_cast<py::ssize_t>(columns);
  return py::array_t<std::int32_t>({static_cast<py::ssize_t>(values.size()) / width, width}, values.data());
}

py::tuple ngram_matrix(const Hypergraph& forest) {
  EdgeNgrams found;
  {
    const py::gil_scoped_release release;
    found = edge_ngrams(forest);
  }
  py::list ngrams;
  for (const auto& ngram : found.ngrams) {
    py::tuple words(ngram.size());
    for (std::size_t i = 0; i < ngram.size(); ++i) words[i] = forest.words[ngram[i]];
    ngrams.append(words);
  }
  const py::array ones = py::module_::import("numpy").attr("ones")(found.ids.size());
  const py::object matrix =
      py::module_::import("scipy.sparse")
          .attr("csr_array")(py::make_tuple(ones, as_array(found.ids), as_array(found.offsets)),
                             py::arg("shape") = py::make_tuple(forest.edge_count(), found.ngrams.size()));
  matrix.attr("sum_duplicates")();
  return py::make_tuple(ngrams, matrix);
}

void register_ngrams(py::class_<Hypergraph, std::shared_ptr<Hypergraph>>& forest) {
  forest
      .def(
          "annotate_ngrams",
          [](const Hypergraph& f, std::int32_t n, std::int64_t max_edges, const py::object& scores,
             std::int32_t beam) {
            if ((beam > 0) == scores.is_none() || beam < 0)
              throw std::invalid_argument("annotate_ngrams: give scores and a beam of 1 or more, or neither");
            const std::vector<double> by_edge = beam > 0 ? edge_values(f, scores) : std::vector<double>();
            const py::gil_scoped_release release;
            return std::make_shared<Hypergraph>(annotate_ngrams(f, n, {max_edges, beam, by_edge}));
          },
          py::arg("n"), py::kw_only(), py::arg("max_edges") = AnnotateOptions().max_edges,
          py::arg("scores") = py::none(), py::arg("beam") = 0,
          "A forest of the same derivations whose nodes, but for the root, know the first and last n - 1 "
          "words of\n"
          "all their strings, so that n-grams of up to n words can be counted by edge. Exact; with scores "
          "and a\n"
          "beam only so many variants of a node are kept, by best inside score. Raises ForestError where it "
          "would\n"
          "have over max_edges edges.")
      .def_readonly("ngram_order", &Hypergraph::ngram_order, "n of annotate_ngrams, or 0.")
      .def_property_readonly(
          "node_boundaries",
          [](const py::object& self) {
            const auto& f = self.cast<const Hypergraph&>();
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
          [](const Hypergraph& f, const std::vector<std::vector<std::string>>& references) {
            NgramMatches found;
            {
              const py::gil_scoped_release release;
              found = ngram_matches(f, references);
            }
            return py::make_tuple(as_matrix(found.totals, f.ngram_order),
                                  as_matrix(found.matches, f.ngram_order));
          },
          py::arg("references"),
          "(totals, matches), int32 (edges, n) each: n-grams of 1, 2, ... words that arise at an edge, and "
          "those of\n"
          "them that occur in one of the references, unclipped.")
      .def_property_readonly(
          "target_words",
          [](const Hypergraph& f) {
            std::vector<std::int32_t> words;
            for (EdgeIndex e = 0; e < f.edge_count(); ++e) words.push_back(rule_words(f, e));
            return as_array(words);
          },
          "int32 (edges): target words that the edge's own rule makes.")
      .def_property_readonly(
          "covered_shares", [](const Hypergraph& f) { return as_array(covered_shares(f)); },
          "float64 (edges): source words that the edge's own rule covers, by those of the root.");
}

void register_kbest(py::module_& m) {
  py::class_<KBestArrays>(m, "KBestArrays", "A k-best list as arrays; see Forest.kbest_arrays.")
      .def("__len__", [](const KBestArrays& list) { return list.scores.size(); })
      .def_property_readonly(
          "scores", [](const py::object& self) { return view(self.cast<const KBestArrays&>().scores, self); },
          "float64 (k), best first.")
      .def_property_readonly(
          "edge_offsets",
          [](const py::object& self) { return view(self.cast<const KBestArrays&>().edge_offsets, self); },
          "int32 (k + 1).")
      .def_property_readonly(
          "edges", [](const py::object& self) { return view(self.cast<const KBestArrays&>().edges, self); },
          "int32: edges of each derivation in preorder, at edge_offsets.")
      .def_property_readonly(
          "word_offsets",
          [](const py::object& self) { return view(self.cast<const KBestArrays&>().word_offsets, self); },
          "int32 (k + 1).")
      .def_property_readonly(
          "words", [](const py::object& self) { return view(self.cast<const KBestArrays&>().words, self); },
          "int32: target words as indices into the forest's `words`, at word_offsets.")
      .def_property_readonly(
          "features",
          [](const py::object& self) {
            const auto& list = self.cast<const KBestArrays&>();
            const py::tuple parts =
                py::make_tuple(view(list.features.values, self), view(list.features.ids, self),
                               view(list.features.offsets, self));
            return py::module_::import("scipy.sparse")
                .attr("csr_array")(parts,
                                   py::arg("shape") = py::make_tuple(list.scores.size(), list.feature_count));
          },
          "scipy.sparse.csr_array (k, features): feature sums.");

  struct Iterator {
    std::shared_ptr<const Hypergraph> forest;
    KBest lazy;
  };
  py::class_<Iterator>(m, "KBestIterator")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", [](Iterator& it) {
        std::optional<ScoredDerivation> next;
        {
          const py::gil_scoped_release release;
          next = it.lazy.next();
        }
        if (!next) throw py::stop_iteration();
        return Derivation{it.forest, next->score, std::move(next->edges)};
      });
  m.attr("Forest").attr("kbest_iter") = py::cpp_function(
      [](const ForestPtr& forest, const py::object& scores, bool unique) {
        return Iterator{forest, KBest(*forest, edge_values(*forest, scores), unique)};
      },
      py::name("kbest_iter"), py::is_method(m.attr("Forest")), py::arg("scores"), py::arg("unique") = false,
      "Derivations one after the other, best first, for as long as they are asked for.");
}

void register_distribution(py::module_& m) {
  py::class_<BoundDistribution, std::shared_ptr<BoundDistribution>>(
      m, "Distribution",
      "The distribution exp(score(d)) / Z over a forest's derivations (Li and Eisner 2009); see\n"
      "Forest.distribution and hiero.forest.")
      .def_property_readonly(
          "forest", [](const BoundDistribution& d) { return std::const_pointer_cast<Hypergraph>(d.forest); })
      .def_property_readonly(
          "scores",
          [](const py::object& self) { return view(self.cast<const BoundDistribution&>().scores, self); },
          "float64 (edges): log weights.")
      .def_property_readonly("log_z", [](const BoundDistribution& d) { return d.p.log_z(); })
      .def_property_readonly(
          "edges",
          [](const py::object& self) { return view(self.cast<const BoundDistribution&>().p.edges(), self); },
          "float64 (edges): posteriors; expected uses where a derivation may use an edge twice.")
      .def_property_readonly(
          "nodes",
          [](const py::object& self) { return view(self.cast<const BoundDistribution&>().p.nodes(), self); },
          "float64 (nodes): posteriors, likewise.")
      .def_property_readonly(
          "shares",
          [](const py::object& self) { return view(self.cast<const BoundDistribution&>().p.shares(), self); },
          "float64 (edges): probability of an edge among those with its head, given the head.")
      .def_property_readonly(
          "inside", [](const BoundDistribution& d) { return as_array(logs(d.p.inside())); },
          "float64 (nodes): natural logs.")
      .def_property_readonly(
          "outside",
          [](const BoundDistribution& d) {
            const auto weight = [&](EdgeIndex e) { return Scaled::exp(d.scores[e]); };
            return as_array(logs(outside(*d.forest, ScaledSemiring(), weight, d.p.inside())));
          },
          "float64 (nodes): natural logs; -inf for nodes that no derivation of the root uses.")
      .def(
          "edge_expectations",
          [](const BoundDistribution& d, const DoubleVector& values) {
            const std::vector<double> r(values.data(), values.data() + values.size());
            const py::gil_scoped_release release;
            return d.p.edge_expectations(r);
          },
          py::arg("values"),
          "float64 (edges): posterior times the expected sum of `values` over a derivation, given that it "
          "uses\n"
          "the edge; a use counts as often as it happens. Inside-outside in E_{P,R} (Li and Eisner 2009, "
          "section\n"
          "4.4).")
      .def(
          "sample",
          [](const BoundDistribution& d, std::size_t count, std::uint64_t seed) {
            std::vector<Derivation> out;
            for (auto& edges : sample(d.p, count, seed)) {
              const double score = total(d.scores, edges);
              out.push_back({d.forest, score, std::move(edges)});
            }
            return out;
          },
          py::arg("count"), py::arg("seed"), "Independent derivations; the same for the same seed.");
}

}  // namespace

void register_forest_algorithms(py::class_<Hypergraph, std::shared_ptr<Hypergraph>>& forest, py::module_& m) {
  forest
      .def_static(
          "from_arrays", &from_arrays,
          "A forest of the arrays that forests have as attributes, by name. Needed are edge_offsets,\n"
          "tail_offsets and tails; by default there are no spans, labels, rules, words and features, and\n"
          "every edge joins the yields of its tails. `features` is a matrix (edges, features), dense or\n"
          "sparse, and wants `feature_names`. Lattices are forests whose edges have one tail, but for\n"
          "those into the first node. Raises ForestError saying what is wrong: see validate.h.")
      .def(
          "scores",
          [](const Hypergraph& f, const py::object& weights) {
            if (py::isinstance(weights, py::module_::import("collections.abc").attr("Mapping")))
              return as_array(edge_values(f, weights));
            const DoubleVector vector(weights);
            if (vector.ndim() != 1) throw std::invalid_argument("expected a vector");
            return as_array(edge_scores(f, {vector.data(), static_cast<std::size_t>(vector.size())}));
          },
          py::arg("weights"),
          "float64 (edges): weights . features; `weights` by name, or in the order of feature_names.")
      .def(
          "weighted_features",
          [](const Hypergraph& f, const DoubleVector& factors) {
            if (factors.ndim() != 1) throw std::invalid_argument("expected a vector");
            return as_array(weighted_features(f, {factors.data(), static_cast<std::size_t>(factors.size())}));
          },
          py::arg("factors"), "float64 (features): the sum over edges of factor times feature row.")
      .def_property_readonly(
          "derivation_count",
          [](const Hypergraph& f) {
            BigUnsigned count;
            {
              const py::gil_scoped_release release;
              const auto one = [](EdgeIndex) { return BigUnsigned(1); };
              if (f.root >= 0) count = inside(f, CountingSemiring(), one)[f.root];
            }
            const auto digits = count.digits();
            const py::bytes bytes(reinterpret_cast<const char*>(digits.data()), digits.size_bytes());
            return py::module_::import("builtins").attr("int").attr("from_bytes")(bytes, "little");
          },
          "int: the number of derivations.")
      .def(
          "viterbi",
          [](const ForestPtr& f, const py::object& scores) -> std::optional<Derivation> {
            const std::vector<double> by_edge = edge_values(*f, scores);
            std::vector<EdgeIndex> edges = viterbi(*f, by_edge, f->root);
            if (edges.empty()) return std::nullopt;
            return Derivation{f, total(by_edge, edges), std::move(edges)};
          },
          py::arg("scores"), "The best derivation, ties by edge index; None if there is none.")
      .def(
          "kbest",
          [](const ForestPtr& f, std::size_t k, const py::object& scores, bool unique) {
            std::vector<double> by_edge = edge_values(*f, scores);
            const py::gil_scoped_release release;
            return kbest(f, std::move(by_edge), k, unique);
          },
          py::arg("k"), py::arg("scores"), py::arg("unique") = false,
          "The k best derivations under the given edge scores, best first (Huang and Chiang 2005,\n"
          "Algorithm 3); `unique` keeps the best derivation of every string.")
      .def(
          "kbest_arrays",
          [](const Hypergraph& f, std::size_t k, const py::object& scores, bool unique) {
            std::vector<double> by_edge = edge_values(f, scores);
            const py::gil_scoped_release release;
            return kbest_arrays(f, k, std::move(by_edge), unique);
          },
          py::arg("k"), py::arg("scores"), py::arg("unique") = false, "The same as arrays.")
      .def(
          "derivation",
          [](const ForestPtr& f, std::vector<EdgeIndex> edges, const py::object& scores) {
            check_derivation(*f, edges);
            const double score = scores.is_none() ? 0.0 : total(edge_values(*f, scores), edges);
            return Derivation{f, score, std::move(edges)};
          },
          py::arg("edges"), py::arg("scores") = py::none(),
          "The derivation of the root with these edges in preorder. Raises ForestError if it is none.")
      .def(
          "distribution",
          [](const ForestPtr& f, const py::object& scores) {
            std::vector<double> by_edge = edge_values(*f, scores);
            const py::gil_scoped_release release;
            return std::make_shared<BoundDistribution>(f, std::move(by_edge));
          },
          py::arg("scores"),
          "The distribution exp(score(d)) / Z over derivations. Raises ValueError for scores that are "
          "neither\n"
          "finite nor -inf, and where no derivation has positive weight.")
      .def(
          "prune",
          [](const ForestPtr& f, const py::object& scores, std::optional<double> posterior,
             std::optional<double> margin) {
            const std::vector<double> by_edge = edge_values(*f, scores);
            if (posterior.has_value() == margin.has_value())
              throw std::invalid_argument("prune: give either posterior or margin");
            const py::gil_scoped_release release;
            return std::make_shared<Hypergraph>(
                margin ? prune_by_margin(*f, by_edge, *margin)
                       : prune_by_posterior(Distribution(*f, by_edge), by_edge, *posterior));
          },
          py::arg("scores"), py::kw_only(), py::arg("posterior") = py::none(), py::arg("margin") = py::none(),
          "The forest without edges of lower posterior, or without edges whose best derivation scores worse\n"
          "than the best of all by more than the margin. The best derivation always stays.")
      .def(
          "subforest",
          [](const Hypergraph& f, const py::array_t<bool, py::array::c_style | py::array::forcecast>& keep) {
            std::vector<std::uint8_t> marks(keep.data(), keep.data() + keep.size());
            return std::make_shared<Hypergraph>(subforest(f, marks));
          },
          py::arg("keep"), "The derivations that use only the marked edges.")
      .def_static(
          "union",
          [](const std::vector<ForestPtr>& forests) {
            const std::vector<std::shared_ptr<const Hypergraph>> all(forests.begin(), forests.end());
            return std::make_shared<Hypergraph>(union_of(all));
          },
          py::arg("forests"),
          "All derivations of all forests of one sentence, in their order. Raises ValueError for none or "
          "for\n"
          "different sentences.")
      .def(
          "constrain",
          [](const Hypergraph& f, const std::vector<std::vector<std::string>>& references) {
            const py::gil_scoped_release release;
            return std::make_shared<Hypergraph>(constrain(f, references));
          },
          py::arg("references"),
          "Forced decoding: the derivations that yield one of the references, each a list of tokens.");
  register_ngrams(forest);
  register_distribution(m);
  register_kbest(m);
}

}  // namespace hiero
