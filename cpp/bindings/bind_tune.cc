#include "bind_forest.h"
#include "hiero/tune/line_search.h"

namespace hiero {

void register_tune(py::module_& m) {
  m.def(
      "line_search",
      [](const IntVector& offsets, const DoubleVector& intercepts, const DoubleVector& slopes) {
        WinnerChanges found;
        {
          const auto sizes = [](const auto& v) { return static_cast<std::size_t>(v.size()); };
          const std::span<const std::int32_t> o(offsets.data(), sizes(offsets));
          const std::span<const double> b(intercepts.data(), sizes(intercepts));
          const std::span<const double> a(slopes.data(), sizes(slopes));
          const py::gil_scoped_release release;
          found = line_search(o, b, a);
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
}

}  // namespace hiero
