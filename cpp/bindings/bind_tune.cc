#include "bind_forest.h"
#include "hiero/forest/envelope.h"
#include "hiero/tune/line_search.h"

namespace hiero {
namespace {

py::tuple winners(const Hypergraph& forest, const py::object& start, const py::object& direction) {
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

}  // namespace

void register_tune(py::module_& m) {
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
