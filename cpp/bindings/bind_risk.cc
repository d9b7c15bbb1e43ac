#include <utility>

#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/record.h"
#include "hiero/tune/risk.h"

namespace hiero {
namespace {

class ListedForests final : public ForestSource {
 public:
  explicit ListedForests(std::vector<std::shared_ptr<Forest>> forests) : forests_(std::move(forests)) {
    const FeatureNames* names = nullptr;  // of the first that has derivations
    for (const auto& forest : forests_) {
      if (!forest) throw py::type_error("forests: None is no forest");
      if (forest->graph->root < 0) continue;
      if (!names) names = forest->feature_names.get();
      if (!(*forest->feature_names == *names))
        throw std::invalid_argument("forests: they have different features");
    }
  }
  std::size_t size() const override { return forests_.size(); }
  std::shared_ptr<const Forest> forest(std::size_t sentence) const override { return forests_[sentence]; }

 private:
  std::vector<std::shared_ptr<Forest>> forests_;
};

// Records in memory that Python owns, such as a mapped file.
class RecordedForests final : public ForestSource {
 public:
  RecordedForests(const py::buffer& memory, const py::object& places, const py::object& names)
      : memory_(memory.request()), names_(feature_names(names)) {
    check_bytes(memory_);
    const std::vector<std::int64_t> numbers = integers<std::int64_t>(places, "places");
    if (numbers.size() % 2 != 0) throw std::invalid_argument("records: expected begin and size of each");
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      const std::int64_t begin = numbers[i];
      const std::int64_t size = numbers[i + 1];
      if (begin < 0 || size < 0 || begin > memory_.shape[0] || size > memory_.shape[0] - begin)
        throw ForestError("records: record " + std::to_string(i / 2) + " is beyond the end");
      places_.emplace_back(begin, size);
    }
  }
  std::size_t size() const override { return places_.size(); }
  std::shared_ptr<const Forest> forest(std::size_t sentence) const override {
    const auto [begin, size] = places_[sentence];
    const auto* const bytes = static_cast<const std::byte*>(memory_.ptr) + begin;
    try {
      return std::make_shared<const Forest>(read_record({bytes, static_cast<std::size_t>(size)}, names_));
    } catch (const ForestError& error) {
      throw ForestError("sentence " + std::to_string(sentence) + ": " + error.what());
    }
  }

 private:
  py::buffer_info memory_;
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;
  std::shared_ptr<const FeatureNames> names_;
};

using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;

RiskSum risk_of(const ForestSource& forests, const FloatArray& counts, const py::object& offsets,
                const DoubleVector& loss, const DoubleVector& weights, double gamma, double temperature,
                bool gradient, std::size_t threads) {
  if (counts.ndim() != 2) throw std::invalid_argument("counts: expected a matrix (edges, columns)");
  if (loss.ndim() != 1 || weights.ndim() != 1)
    throw std::invalid_argument("loss and weights are to be vectors");
  const std::vector<std::int64_t> rows = integers<std::int64_t>(offsets, "offsets");
  const auto span = [](const auto& array) {
    return std::span(array.data(), static_cast<std::size_t>(array.size()));
  };
  const EdgeCounts by_edge{span(counts), rows, static_cast<std::size_t>(counts.shape(1))};
  const auto by_column = span(loss);
  const auto theta = span(weights);
  const py::gil_scoped_release release;
  return minimum_risk(forests, by_edge, by_column, theta, {gamma, temperature, gradient, threads});
}

}  // namespace

void register_risk(py::module_& m) {
  py::class_<ForestSource, std::shared_ptr<ForestSource>>(
      m, "ForestSource",
      "Forests of sentences with one index of features, as minimum_risk reads them: from a list, or one by "
      "one\n"
      "from records in memory, such as a mapped archive.")
      .def(py::init([](std::vector<std::shared_ptr<Forest>> forests) -> std::shared_ptr<ForestSource> {
             return std::make_shared<ListedForests>(std::move(forests));
           }),
           py::arg("forests"))
      .def_static(
          "of_records",
          [](const py::buffer& memory, const py::object& places,
             const py::object& names) -> std::shared_ptr<ForestSource> {
            return std::make_shared<RecordedForests>(memory, places, names);
          },
          py::arg("memory"), py::arg("places"), py::arg("feature_names"),
          "Of bytes and, int64 (sentences, 2), where each record begins and how long it is.")
      .def("__len__", &ForestSource::size);
  py::class_<RiskSum>(m, "RiskSum", "What minimum_risk sums over sentences.")
      .def_property_readonly("counts", view_of(&RiskSum::counts), "float64 (columns): expected.")
      .def_readonly("entropy", &RiskSum::entropy, "In nats.")
      .def_readonly("gamma", &RiskSum::gamma, "The derivative of R - T H in gamma.")
      .def_property_readonly("gradient", view_of(&RiskSum::gradient),
                             "float64 (features): in theta; empty where it was not asked for.");
  m.def("minimum_risk", &risk_of, py::arg("forests"), py::arg("counts"), py::arg("offsets"), py::arg("loss"),
        py::arg("weights"), py::kw_only(), py::arg("gamma") = 1.0, py::arg("temperature") = 0.0,
        py::arg("gradient") = true, py::arg("threads") = 1,
        "Expected counts and H over the derivations of forests, p(d) = exp(gamma theta . h(d)) / Z, and the\n"
        "gradient of R - temperature H, R being the counts weighed by `loss`, float64 (columns) (Li and "
        "Eisner\n"
        "2009, section 7), as RiskSum. `counts`, float32 (edges, columns), are of all edges, those of a "
        "sentence\n"
        "from offsets[sentence] on, int64 (sentences + 1); a sentence without derivations adds nothing. The "
        "same\n"
        "for any number of threads. Raises ValueError for arrays that do not fit and scores that\n"
        "Forest.distribution refuses.");
}

}  // namespace hiero
