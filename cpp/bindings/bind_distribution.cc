// The distribution that edge scores define over a forest's derivations.
#include <tuple>

#include "bind_forest.h"
#include "conversions.h"
#include "hiero/forest/decisions.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/ngram_posteriors.h"
#include "hiero/forest/sampling.h"
#include "hiero/forest/word_posteriors.h"
#include "ngram_tuples.h"

namespace hiero {
namespace {

// A distribution that keeps its forest alive.
struct BoundDistribution {
  std::shared_ptr<const Forest> forest;
  std::vector<double> scores;
  Distribution p;

  BoundDistribution(std::shared_ptr<const Forest> f, std::vector<double> s)
      : forest(std::move(f)), scores(std::move(s)), p(*forest, scores) {}
};

std::shared_ptr<BoundDistribution> make_distribution(const std::shared_ptr<Forest>& forest,
                                                     const EdgeValues& scores) {
  std::vector<double> by_edge = edge_values(*forest, scores);
  const nb::gil_scoped_release release;
  return std::make_shared<BoundDistribution>(forest, std::move(by_edge));
}

std::tuple<Annotated<"list[tuple[str, ...]]">, Array<double>, Array<double>> ngram_table(
    const BoundDistribution& d) {
  EdgeNgrams ngrams;
  std::vector<double> posteriors;
  std::vector<double> expectations;
  {
    const nb::gil_scoped_release release;
    ngrams = edge_ngrams(*d.forest);
    posteriors = ngram_posteriors(d.p, ngrams);
    expectations = ngram_expectations(d.p, ngrams);
  }
  return {ngram_tuples(ngrams, *d.forest), as_array(posteriors), as_array(expectations)};
}

// Runs work without Python's lock and returns its result as an array.
template <class Work>
Array<double> released(const Work& work) {
  std::vector<double> out;
  {
    const nb::gil_scoped_release release;
    out = work();
  }
  return as_array(out);
}

auto bound_view(const std::vector<double>& (Distribution::*values)() const) {
  return [values](const nb::object& self) {
    return view((nb::cast<const BoundDistribution&>(self).p.*values)(), self);
  };
}

auto function_of_values(std::vector<double> (Distribution::*work)(std::span<const double>) const) {
  return [work](const BoundDistribution& d, const Array<double>& values) {
    const std::span<const double> by_edge = vector_values(values, "values");
    return released([&] { return (d.p.*work)(by_edge); });
  };
}

void register_posteriors(nb::class_<BoundDistribution>& type) {
  type.def_prop_ro(
          "forest", [](const BoundDistribution& d) { return d.forest; }, "The forest.")
      .def_prop_ro("scores", view_of(&BoundDistribution::scores),
                   "Score of each edge (natural log), float64 (edges).")
      .def_prop_ro(
          "log_z", [](const BoundDistribution& d) { return d.p.log_z(); },
          "Natural log of Z, the sum of exp(score) over all derivations.")
      .def_prop_ro("edges", bound_view(&Distribution::edges),
                   "Posterior of each edge, float64 (edges): its expected number of uses in a derivation,\n"
                   "more than 1 where derivations can use it several times.")
      .def_prop_ro("nodes", bound_view(&Distribution::nodes),
                   "Posterior of each node, float64 (nodes): its expected number of uses in a derivation.")
      .def_prop_ro("shares", bound_view(&Distribution::shares),
                   "Probability of each edge among those with its head, given the head: float64 (edges).")
      .def_prop_ro(
          "inside", [](const BoundDistribution& d) { return as_array(d.p.log_inside()); },
          "Natural log of each node's inside value, float64 (nodes).")
      .def_prop_ro(
          "outside",
          [](const BoundDistribution& d) { return released([&] { return d.p.log_outside(d.scores); }); },
          "Natural log of each node's outside value, float64 (nodes); -inf for nodes that no derivation\n"
          "of the root uses.");
}

void register_expectations(nb::class_<BoundDistribution>& type) {
  type.def("edge_expectations", function_of_values(&Distribution::edge_expectations), nb::arg("values"),
           R"(Returns p(e) E[r(d) | e] for every edge, where r(d) is the sum of `values` over d's edges.

A derivation that uses an edge twice counts twice. Inside-outside in the expectation semiring E_{P,R}
(Li and Eisner 2009, section 4.4).

Args:
    values: float64 (edges), finite.

Returns:
    float64 (edges).

Raises:
    ValueError: There is not one value per edge, or one is not finite.)")
      .def("edge_second_moments", function_of_values(&Distribution::edge_second_moments), nb::arg("values"),
           R"(Returns p(e) E[r(d)^2 | e] for every edge, where r(d) is the sum of `values` over d's edges.

Args:
    values: float64 (edges), finite.

Returns:
    float64 (edges).

Raises:
    ValueError: There is not one value per edge, or one is not finite.)")
      .def(
          "word_posteriors",
          [](const BoundDistribution& d, const std::vector<std::string>& words) {
            const nb::gil_scoped_release release;
            return word_posteriors(d.p, words);
          },
          nb::arg("words"),
          R"(Returns how sure each word of a translation is, from 0 to 1 (Translation.confidence).

It is the expected number of times that a derivation's string has the word, over the number of
times that the translation has it.

Args:
    words: Tokens of the translation.)")
      .def(
          "sample",
          [](const BoundDistribution& d, std::size_t count, std::uint64_t seed) {
            const nb::gil_scoped_release release;
            return sample(d.forest, d.scores, d.p, count, seed);
          },
          nb::arg("count"), nb::arg("seed"),
          R"(Returns independent derivations drawn from the distribution.

Args:
    count: Number of derivations.
    seed: Seed of the random numbers; the same seed gives the same derivations on every platform.)");
}

void register_decisions(nb::class_<BoundDistribution>& type) {
  type.def("ngrams", &ngram_table,
           R"(Returns the n-grams of an annotated forest with their probabilities and expected numbers.

Exact (Tromble et al. 2008).

Returns:
    ngrams: The n-grams of up to `ngram_order` words, as tuples.
    posteriors: float64 (n-grams), the probability that a derivation's string has the n-gram.
    expectations: float64 (n-grams), its expected number of occurrences.

Raises:
    ValueError: The forest is not annotated (see Forest.annotate_ngrams).)")
      .def(
          "mbr_values",
          [](const BoundDistribution& d, const std::vector<double>& theta) {
            return released([&] { return mbr_values(d.p, theta); });
          },
          nb::arg("theta"),
          R"(Returns edge scores whose best derivation has the greatest expected linear BLEU.

Minimum Bayes risk over the forest (Tromble et al. 2008).

Args:
    theta: theta[0] is the value of a word, theta[n] of an n-gram that occurs, times the probability
        that it occurs.

Returns:
    float64 (edges).

Raises:
    ValueError: The forest is not annotated with n-grams of len(theta) - 1 words or more.)")
      .def(
          "variational_values",
          [](const BoundDistribution& d, std::int32_t order) {
            return released([&] { return variational_values(d.p, order); });
          },
          nb::arg("order"),
          R"(Returns edge scores whose sum over a derivation is log q of its string.

q is the n-gram model nearest to the distribution p over strings by KL(p || q) (Li, Eisner and
Khudanpur 2009).

Args:
    order: n of the n-gram model.

Returns:
    float64 (edges), natural log.

Raises:
    ValueError: The forest is not annotated with n-grams of this order or more.)");
}

}  // namespace

void register_distribution(nb::module_& m, nb::class_<Forest>& forest) {
  auto type = define<BoundDistribution>(
      m, "Distribution", R"(Distribution p(d) = exp(score(d)) / Z over a forest's derivations d.

See Forest.distribution, which makes one, and hiero.forest for expectations, entropy and risk (Li and
Eisner 2009).)");
  register_posteriors(type);
  register_expectations(type);
  register_decisions(type);
  forest.def("distribution", &make_distribution, nb::arg("scores").none(),
             R"(Returns the distribution p(d) = exp(score(d)) / Z over the derivations of the root.

Args:
    scores: float64 (edges), of at most 1e12 in size or -inf, or weights by feature name.

Raises:
    ValueError: A score is out of range, or no derivation has a score above -inf.
    FormatError: A weight names no feature.)");
}

}  // namespace hiero
