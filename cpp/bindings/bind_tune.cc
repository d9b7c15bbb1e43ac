#include "bind_forest.h"
#include "hiero/forest/envelope.h"
#include "hiero/tune/line_search.h"
#include "hiero/tune/smo.h"

namespace hiero {
namespace {

nb::tuple winners(const Forest& forest, const nb::object& start, const nb::object& direction) {
  const std::vector<double> intercepts = edge_values(forest, start);
  const std::vector<double> slopes = edge_values(forest, direction);
  EnvelopeArrays found;
  {
    const nb::gil_scoped_release release;
    found = envelope_arrays(forest, intercepts, slopes);
  }
  return nb::make_tuple(as_array(found.begins), as_array(found.intercepts), as_array(found.slopes),
                        as_array(found.word_offsets), as_array(found.words));
}

std::span<const double> doubles(const Array<double>& values, const char* name) {
  if (values.ndim() != 1) throw std::invalid_argument(std::string(name) + ": expected a vector");
  return values.values();
}

SmoSolution solve(const nb::object& offsets, const nb::object& oracles, const Array<double>& losses,
                  const nb::object& row_offsets, const nb::object& ids, const Array<double>& values,
                  const Array<double>& weights, const Array<bool>& fixed, double c, double tolerance) {
  const std::vector<std::int32_t> sentences = integer_vector(offsets, "offsets");
  const std::vector<std::int32_t> chosen = integer_vector(oracles, "oracles");
  const std::vector<std::int32_t> rows = integer_vector(row_offsets, "row_offsets");
  const std::vector<std::int32_t> columns = integer_vector(ids, "ids");
  if (fixed.ndim() != 1) throw std::invalid_argument("fixed: expected a vector");
  const std::span<const bool> kept = fixed.values();
  const SmoBatch batch{sentences, chosen,  doubles(losses, "losses"),
                       rows,      columns, doubles(values, "values")};
  const std::span<const double> start = doubles(weights, "weights");
  const nb::gil_scoped_release release;
  return smo(batch, start, kept, {c, tolerance});
}

}  // namespace

void register_tune(nb::module_& m) {
  const auto array_of = [](std::vector<double> SmoSolution::* member) {
    return [member](const SmoSolution& solution) { return as_array(solution.*member); };
  };
  define<SmoSolution>(m, "SmoSolution", "The weights that MIRA moves to for a batch, see `smo`.")
      .def_prop_ro(
          "ids", [](const SmoSolution& solution) { return as_array(solution.ids); },
          "int32 (features of the batch that may change), rising.")
      .def_prop_ro("changes", array_of(&SmoSolution::changes), "float64, w' - w of `ids`.")
      .def_prop_ro("alphas", array_of(&SmoSolution::alphas), "float64 (hypotheses).")
      .def_ro("objective", &SmoSolution::objective)
      .def_ro("gap", &SmoSolution::gap, "How far above its least value the objective may be.")
      .def_ro("sweeps", &SmoSolution::sweeps);
  m.def("smo", &solve, nb::arg("offsets"), nb::arg("oracles"), nb::arg("losses"), nb::arg("row_offsets"),
        nb::arg("ids"), nb::arg("values"), nb::arg("weights"), nb::arg("fixed") = Array<bool>(Shape{0}),
        nb::arg("c") = 0.01, nb::arg("tolerance") = 1e-6,
        "The w' that minimises 1/2 |w' - w|^2 + c sum_i max_j (l_ij - (h(e*_i) - h(e_ij)) . w') for a\n"
        "batch of sentences i with hypotheses e_ij (Chiang et al. 2008, objective 1), by sequential minimal\n"
        "optimisation. Hypotheses of sentence i are offsets[i] to offsets[i + 1], its oracle e*_i is\n"
        "oracles[i] among them, losses float64 (hypotheses); `row_offsets`, `ids` and `values` are the CSR\n"
        "rows of their features, `weights` float64 (features) w; those that are `fixed`, bool (features) or\n"
        "empty, are kept. Stops when the duality gap is at most `tolerance` times the objective, or where\n"
        "rounding hides what is left. Raises ValueError for arrays that do not fit, oracles of other\n"
        "sentences, ids beyond the weights and values that are not finite.");
  m.def(
      "line_search",
      [](const nb::object& sentence_offsets, const Array<double>& intercepts, const Array<double>& slopes) {
        const std::vector<std::int32_t> offsets = integer_vector(sentence_offsets, "offsets");
        if (intercepts.ndim() != 1 || slopes.ndim() != 1) {
          throw std::invalid_argument("intercepts and slopes are to be vectors");
        }
        WinnerChanges found;
        {
          const auto b = intercepts.values();
          const auto a = slopes.values();
          const nb::gil_scoped_release release;
          found = line_search(offsets, b, a);
        }
        return nb::make_tuple(as_array(found.first), as_array(found.gamma), as_array(found.from),
                              as_array(found.to));
      },
      nb::arg("offsets"), nb::arg("intercepts"), nb::arg("slopes"),
      "Which hypotheses win along a line through weight space (Och 2003). Hypothesis i scores\n"
      "intercepts[i] + gamma slopes[i]; those of sentence s are offsets[s] to offsets[s + 1]. Returns int32\n"
      "(sentences), the winners at gamma = -inf, -1 where there is no hypothesis, and of all changes by\n"
      "rising gamma: float64 gamma, int32 from, int32 to. Of equal lines the first wins, of parallel ones\n"
      "the higher. Raises ValueError for arrays that do not fit or are not finite.");
  nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
      .def("envelope", &winners, nb::arg("intercepts").none(), nb::arg("slopes").none(),
           "The derivations that win somewhere when edges score intercepts + gamma slopes, by rising gamma\n"
           "(Kumar et al. 2009): float64 (n) where each begins to win, from -inf; float64 intercepts and "
           "slopes "
           "of\n"
           "whole derivations; int32 word offsets (n + 1) and words, indices into the forest's `words`. Of\n"
           "derivations that are equal everywhere the one that viterbi takes wins. Raises ForestError for "
           "over\n"
           "2^31 - 1 words.");
}

}  // namespace hiero
