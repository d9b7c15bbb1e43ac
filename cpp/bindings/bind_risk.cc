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
      if (!forest) throw type_error("forests: None is no forest");
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
  RecordedForests(const nb::object& memory, const nb::object& places, const nb::object& names)
      : memory_(memory), names_(feature_names(names)) {
    const std::int64_t end = static_cast<std::int64_t>(memory_.bytes().size());
    const std::vector<std::int64_t> numbers = integers<std::int64_t>(places, "places");
    if (numbers.size() % 2 != 0) throw std::invalid_argument("records: expected begin and size of each");
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      const std::int64_t begin = numbers[i];
      const std::int64_t size = numbers[i + 1];
      if (begin < 0 || size < 0 || begin > end || size > end - begin)
        throw ForestError("records: record " + std::to_string(i / 2) + " is beyond the end");
      places_.emplace_back(begin, size);
    }
  }
  std::size_t size() const override { return places_.size(); }
  std::shared_ptr<const Forest> forest(std::size_t sentence) const override {
    const auto [begin, size] = places_[sentence];
    const auto record =
        memory_.bytes().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
    try {
      return std::make_shared<const Forest>(read_record(record, names_));
    } catch (const ForestError& error) {
      throw ForestError("sentence " + std::to_string(sentence) + ": " + error.what());
    }
  }

 private:
  ByteView memory_;
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;
  std::shared_ptr<const FeatureNames> names_;
};

RiskSum risk_of(const ForestSource& forests, const Array<float>& counts, const nb::object& offsets,
                const Array<double>& loss, const Array<double>& weights, double gamma, double temperature,
                Truth gradient, std::size_t threads) {
  if (counts.ndim() != 2) throw std::invalid_argument("counts: expected a matrix (edges, columns)");
  if (loss.ndim() != 1 || weights.ndim() != 1)
    throw std::invalid_argument("loss and weights are to be vectors");
  const std::vector<std::int64_t> rows = integers<std::int64_t>(offsets, "offsets");
  const EdgeCounts by_edge{counts.values(), rows, static_cast<std::size_t>(counts.shape(1))};
  const auto by_column = loss.values();
  const auto theta = weights.values();
  const nb::gil_scoped_release release;
  return minimum_risk(forests, by_edge, by_column, theta, {gamma, temperature, gradient, threads});
}

}  // namespace

void register_risk(nb::module_& m) {
  define<ForestSource>(
      m, "ForestSource",
      "Forests of sentences with one index of features, as minimum_risk reads them: from a list, or one by "
      "one\n"
      "from records in memory, such as a mapped archive.")
      .def(nb::new_([](std::vector<std::shared_ptr<Forest>> forests) -> std::shared_ptr<ForestSource> {
             return std::make_shared<ListedForests>(std::move(forests));
           }),
           nb::arg("forests"))
      .def_static(
          "of_records",
          [](const nb::object& memory, const nb::object& places,
             const nb::object& names) -> std::shared_ptr<ForestSource> {
            return std::make_shared<RecordedForests>(memory, places, names);
          },
          nb::arg("memory"), nb::arg("places"), nb::arg("feature_names"),
          "Of bytes and, int64 (sentences, 2), where each record begins and how long it is.")
      .def("__len__", &ForestSource::size);
  define<RiskSum>(m, "RiskSum", "What minimum_risk sums over sentences.")
      .def_prop_ro("counts", view_of(&RiskSum::counts), "float64 (columns): expected.")
      .def_ro("entropy", &RiskSum::entropy, "In nats.")
      .def_ro("gamma", &RiskSum::gamma, "The derivative of R - T H in gamma.")
      .def_prop_ro("gradient", view_of(&RiskSum::gradient),
                   "float64 (features): in theta; empty where it was not asked for.");
  m.def("minimum_risk", &risk_of, nb::arg("forests"), nb::arg("counts"), nb::arg("offsets"), nb::arg("loss"),
        nb::arg("weights"), nb::kw_only(), nb::arg("gamma") = 1.0, nb::arg("temperature") = 0.0,
        nb::arg("gradient") = true, nb::arg("threads") = 1,
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
