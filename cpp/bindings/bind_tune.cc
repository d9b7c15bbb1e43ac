#include "bind_forest.h"
#include "hiero/forest/envelope.h"
#include "hiero/tune/line_search.h"
#include "hiero/tune/smo.h"

namespace hiero {
namespace {

py::tuple winners(const Forest& forest, const py::object& start, const py::object& direction) {
  const std::vector<double> intercepts = edge_values(forest, start);
  const std::vector<double> slopes = edge_values(forest, direction);
  EnvelopeArrays found;
  {
    const py::gil_scoped_release release;
    found = envelope_arrays(forest, intercepts, slopes);
  }
  return py::make_tuple(as_array(found.begins), as_array(found.intercepts), as_array(found.slopes),
                        as_array(found.word_offsets), as_array(found.words));
}

std::span<const double> doubles(const DoubleVector& values, const char* name) {
  if (values.ndim() != 1) throw std::invalid_argument(std::string(name) + ": expected a vector");
  return {values.data(), static_cast<std::size_t>(values.size())};
}

using BoolVector = py::array_t<bool, py::array::c_style | py::array::forcecast>;

SmoSolution solve(const py::object& offsets, const py::object& oracles, const DoubleVector& losses,
                  const py::object& row_offsets, const py::object& ids, const DoubleVector& values,
                  const DoubleVector& weights, const BoolVector& fixed, double c, double tolerance) {
  const std::vector<std::int32_t> sentences = integer_vector(offsets, "offsets");
  const std::vector<std::int32_t> chosen = integer_vector(oracles, "oracles");
  const std::vector<std::int32_t> rows = integer_vector(row_offsets, "row_offsets");
  const std::vector<std::int32_t> columns = integer_vector(ids, "ids");
  if (fixed.ndim() != 1) throw std::invalid_argument("fixed: expected a vector");
  const std::span<const bool> kept{fixed.data(), static_cast<std::size_t>(fixed.size())};
  const SmoBatch batch{sentences, chosen,  doubles(losses, "losses"),
                       rows,      columns, doubles(values, "values")};
  const std::span<const double> start = doubles(weights, "weights");
  const py::gil_scoped_release release;
  return smo(batch, start, kept, {c, tolerance});
}

}  // namespace

void register_tune(py::module_& m) {
  const auto array_of = [](std::vector<double> SmoSolution::*member) {
    return [member](const SmoSolution& solution) { return as_array(solution.*member); };
  };
  py::class_<SmoSolution>(m, "SmoSolution", "The weights that MIRA moves to for a batch, see `smo`.")
      .def_property_readonly(
          "ids", [](const SmoSolution& solution) { return as_array(solution.ids); },
          "int32 (features of the batch that may change), rising.")
      .def_property_readonly("changes", array_of(&SmoSolution::changes), "float64, w' - w of `ids`.")
      .def_property_readonly("alphas", array_of(&SmoSolution::alphas), "float64 (hypotheses).")
      .def_readonly("objective", &SmoSolution::objective)
      .def_readonly("gap", &SmoSolution::gap, "How far above its least value the objective may be.")
      .def_readonly("sweeps", &SmoSolution::sweeps);
  m.def("smo", &solve, py::arg("offsets"), py::arg("oracles"), py::arg("losses"), py::arg("row_offsets"),
        py::arg("ids"), py::arg("values"), py::arg("weights"), py::arg("fixed") = BoolVector(0),
        py::arg("c") = 0.01, py::arg("tolerance") = 1e-6,
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
      [](const py::object& sentence_offsets, const DoubleVector& intercepts, const DoubleVector& slopes) {
        const std::vector<std::int32_t> offsets = integer_vector(sentence_offsets, "offsets");
        if (intercepts.ndim() != 1 || slopes.ndim() != 1) {
          throw std::invalid_argument("intercepts and slopes are to be vectors");
        }
        WinnerChanges found;
        {
          const auto span = [](const DoubleVector& v) {
            return std::span(v.data(), static_cast<std::size_t>(v.size()));
          };
          const auto b = span(intercepts);
          const auto a = span(slopes);
          const py::gil_scoped_release release;
          found = line_search(offsets, b, a);
        }
        return py::make_tuple(as_array(found.first), as_array(found.gamma), as_array(found.from),
                              as_array(found.to));
      },
      py::arg("offsets"), py::arg("intercepts"), py::arg("slopes"),
      "Which hypotheses win along a line through weight space (Och 2003). Hypothesis i scores\n"
      "intercepts[i] + gamma slopes[i]; those of sentence s are offsets[s] to offsets[s + 1]. Returns int32\n"
      "(sentences), the winners at gamma = -inf, -1 where there is no hypothesis, and of all changes by\n"
      "rising gamma: float64 gamma, int32 from, int32 to. Of equal lines the first wins, of parallel ones\n"
      "the higher. Raises ValueError for arrays that do not fit or are not finite.");
  m.attr("Forest").attr("envelope") = py::cpp_function(
      &winners, py::name("envelope"), py::is_method(m.attr("Forest")), py::arg("intercepts"),
      py::arg("slopes"),
      "The derivations that win somewhere when edges score intercepts + gamma slopes, by rising gamma\n"
      "(Kumar et al. 2009): float64 (n) where each begins to win, from -inf; float64 intercepts and slopes "
      "of\n"
      "whole derivations; int32 word offsets (n + 1) and words, indices into the forest's `words`. Of\n"
      "derivations that are equal everywhere the one that viterbi takes wins. Raises ForestError for over\n"
      "2^31 - 1 words.");
}

}  // namespace hiero
