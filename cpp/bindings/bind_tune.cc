// Line search, envelopes and MIRA's quadratic programmes.
#include <tuple>

#include "conversions.h"
#include "hiero/forest/envelope.h"
#include "hiero/tune/line_search.h"
#include "hiero/tune/smo.h"

namespace hiero {
namespace {

using Doubles = Array<double>;
using Ints = Array<std::int32_t>;

std::tuple<Doubles, Doubles, Doubles, Ints, Ints> winning_lines(const Forest& forest,
                                                                const EdgeValues& intercepts,
                                                                const EdgeValues& slopes) {
  const std::vector<double> b = edge_values(forest, intercepts);
  const std::vector<double> a = edge_values(forest, slopes);
  EnvelopeArrays lines;
  {
    const nb::gil_scoped_release release;
    lines = envelope_arrays(forest, b, a);
  }
  return {as_array(lines.begins), as_array(lines.intercepts), as_array(lines.slopes),
          as_array(lines.word_offsets), as_array(lines.words)};
}

std::tuple<Ints, Doubles, Ints, Ints> winner_changes(const ArrayLike& offsets, const Doubles& intercepts,
                                                     const Doubles& slopes) {
  const std::vector<std::int32_t> sentences = integer_vector(offsets, "offsets");
  if (intercepts.ndim() != 1 || slopes.ndim() != 1)
    throw std::invalid_argument("intercepts and slopes are to be vectors");
  WinnerChanges changes;
  {
    const auto b = intercepts.values();
    const auto a = slopes.values();
    const nb::gil_scoped_release release;
    changes = line_search(sentences, b, a);
  }
  return {as_array(changes.first), as_array(changes.gamma), as_array(changes.from), as_array(changes.to)};
}

SmoSolution solve_smo(const ArrayLike& offsets, const ArrayLike& oracles, const Doubles& losses,
                      const ArrayLike& row_offsets, const ArrayLike& ids, const Doubles& values,
                      const Doubles& weights, const Array<bool>& fixed, double c, double tolerance) {
  const std::vector<std::int32_t> sentences = integer_vector(offsets, "offsets");
  const std::vector<std::int32_t> oracle_list = integer_vector(oracles, "oracles");
  const std::vector<std::int32_t> rows = integer_vector(row_offsets, "row_offsets");
  const std::vector<std::int32_t> columns = integer_vector(ids, "ids");
  const std::span<const bool> is_fixed = vector_values(fixed, "fixed");
  const SmoBatch batch{sentences, oracle_list, vector_values(losses, "losses"),
                       rows,      columns,     vector_values(values, "values")};
  const std::span<const double> start = vector_values(weights, "weights");
  const nb::gil_scoped_release release;
  return smo(batch, start, is_fixed, {c, tolerance});
}

void register_smo(nb::module_& m) {
  define<SmoSolution>(m, "SmoSolution", "Solution of a quadratic programme of MIRA; see smo.")
      .def_prop_ro("ids", view_of(&SmoSolution::ids),
                   "Features of the batch whose weights may change, int32, ascending.")
      .def_prop_ro("changes", view_of(&SmoSolution::changes),
                   "Changes w' - w of the weights of `ids`, float64.")
      .def_prop_ro("alphas", view_of(&SmoSolution::alphas), "Dual variables, float64 (hypotheses).")
      .def_ro("objective", &SmoSolution::objective, "Value of the objective at w'.")
      .def_ro("gap", &SmoSolution::gap, "Duality gap: the objective is at most this far above its minimum.")
      .def_ro("sweeps", &SmoSolution::sweeps, "Number of passes over the sentences.");
  m.def("smo", &solve_smo, nb::arg("offsets"), nb::arg("oracles"), nb::arg("losses"), nb::arg("row_offsets"),
        nb::arg("ids"), nb::arg("values"), nb::arg("weights"), nb::arg("fixed") = Array<bool>(Shape{0}),
        nb::arg("c") = 0.01, nb::arg("tolerance") = 1e-6,
        R"(Returns MIRA's weights for a batch of sentences (Chiang et al. 2008, objective 1).

Minimises 1/2 |w' - w|^2 + c sum_i max_j (l_ij - (h(e*_i) - h(e_ij)) . w') over w' by sequential
minimal optimisation, for sentences i with hypotheses e_ij, losses l_ij and oracles e*_i. Stops when the
duality gap is at most `tolerance` times the objective, or below the rounding error.

Args:
    offsets: int32 (sentences + 1), hypotheses of each sentence.
    oracles: int32 (sentences), hypothesis that is the sentence's oracle.
    losses: float64 (hypotheses).
    row_offsets: int32 (hypotheses + 1), features of each hypothesis in `ids` and `values`.
    ids: int32, features.
    values: float64, their values.
    weights: float64 (features), w.
    fixed: bool (features), weights that may not change; empty for none.
    c: Step size C.
    tolerance: Greatest relative duality gap.

Raises:
    ValueError: The arrays do not fit, a value is not finite, or an oracle is another sentence's.)");
}

}  // namespace

void register_tune(nb::module_& m) {
  register_smo(m);
  m.def("line_search", &winner_changes, nb::arg("offsets"), nb::arg("intercepts"), nb::arg("slopes"),
        R"(Returns which hypotheses win along a line through weight space (Och 2003).

Hypothesis i scores intercepts[i] + gamma slopes[i]. Of equal lines the first one wins, of parallel
lines the higher one.

Args:
    offsets: int32 (sentences + 1), hypotheses of each sentence.
    intercepts: float64 (hypotheses), finite.
    slopes: float64 (hypotheses), finite.

Returns:
    first: int32 (sentences), winners at gamma = -inf; -1 for a sentence without hypotheses.
    gamma: float64 (changes), where winners of any sentence change, ascending.
    before: int32 (changes), hypotheses that win before.
    after: int32 (changes), hypotheses that win after.

Raises:
    ValueError: The arrays do not fit, or a value is not finite.)");
  nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
      .def("envelope", &winning_lines, nb::arg("intercepts").none(), nb::arg("slopes").none(),
           R"(Returns the derivations that win somewhere on a line through weight space (Kumar et al. 2009).

Edge e scores intercepts[e] + gamma slopes[e]. Of derivations that are equal everywhere the one wins
that `viterbi` returns.

Args:
    intercepts: float64 (edges), finite, or weights by feature name.
    slopes: float64 (edges), finite, or weights by feature name.

Returns:
    begins: float64 (n), gamma where each derivation begins to win, ascending from -inf.
    intercepts: float64 (n), intercepts of the derivations.
    slopes: float64 (n), slopes of the derivations.
    word_offsets: int32 (n + 1), offsets of their strings in `words`.
    words: int32, target words as indices into the forest's `words`.

Raises:
    ValueError: The arrays do not fit, or a value is not finite.
    ForestError: The strings have over 2^31 - 1 words.)");
}

}  // namespace hiero
