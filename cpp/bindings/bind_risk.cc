// Minimum risk over forests.
#include "conversions.h"
#include "hiero/base/error.h"
#include "hiero/tune/risk.h"

namespace hiero {
namespace {

// Records in memory that a Python object lends, such as a mapped file.
class BorrowedRecords final : ByteView, public ForestRecords {
 public:
  BorrowedRecords(const nb::object& memory, std::span<const std::int64_t> extents,
                  std::shared_ptr<const FeatureNames> names)
      : ByteView(memory), ForestRecords(bytes(), extents, std::move(names)) {}
};

std::shared_ptr<ForestSource> source_of_list(const std::vector<std::shared_ptr<Forest>>& forests) {
  if (std::ranges::find(forests, nullptr) != forests.end()) throw type_error("forests: None is no forest");
  return std::make_shared<ForestList>(
      std::vector<std::shared_ptr<const Forest>>(forests.begin(), forests.end()));
}

std::shared_ptr<ForestSource> source_of_records(const Annotated<"bytes | memoryview | mmap.mmap">& memory,
                                                const ArrayLike& places, const Strings& names) {
  return std::make_shared<BorrowedRecords>(memory, integers<std::int64_t>(places, "places"),
                                           feature_names(names));
}

RiskSum forest_risk(const ForestSource& forests, const Array<float>& counts, const ArrayLike& offsets,
                    const Array<double>& loss, const Array<double>& weights, double gamma, double temperature,
                    Truth gradient, std::size_t threads) {
  if (counts.ndim() != 2) throw std::invalid_argument("counts: expected a matrix (edges, columns)");
  if (loss.ndim() != 1 || weights.ndim() != 1)
    throw std::invalid_argument("loss and weights are to be vectors");
  const std::vector<std::int64_t> rows = integers<std::int64_t>(offsets, "offsets");
  const EdgeCounts by_edge{counts.values(), rows, static_cast<std::size_t>(counts.shape(1))};
  const auto loss_by_column = loss.values();
  const auto theta = weights.values();
  const nb::gil_scoped_release release;
  return minimum_risk(forests, by_edge, loss_by_column, theta, {gamma, temperature, gradient, threads});
}

}  // namespace

void register_risk(nb::module_& m) {
  define<ForestSource>(m, "ForestSource",
                       R"(Forests of sentences, as minimum_risk reads them.

They are a list, or records in memory, such as a mapped archive, that are read one by one. Their
features have the same names in the same order.)")
      .def(nb::new_(&source_of_list), nb::arg("forests"), R"(Makes a source of a list of forests.

Raises:
    ValueError: Forests with derivations differ in their features.)")
      .def_static("of_records", &source_of_records, nb::arg("memory"), nb::arg("places"),
                  nb::arg("feature_names"),
                  R"(Makes a source of records in memory.

Args:
    memory: Bytes that hold the records; see Forest.record.
    places: int64 (sentences, 2), first byte and number of bytes of each record.
    feature_names: Names of the features.

Raises:
    ForestError: A record lies beyond the end of the memory.)")
      .def("__len__", &ForestSource::size, "Returns the number of sentences.");
  define<RiskSum>(m, "RiskSum", "Sums over sentences that minimum_risk returns.")
      .def_prop_ro("counts", view_of(&RiskSum::counts), "Expected counts, float64 (columns).")
      .def_ro("entropy", &RiskSum::entropy, "Entropy H in nats.")
      .def_ro("gamma", &RiskSum::gamma, "Derivative of R - temperature H in gamma.")
      .def_prop_ro("gradient", view_of(&RiskSum::gradient),
                   "Gradient of R - temperature H in the weights, float64 (features); empty if it was not\n"
                   "computed.");
  m.def("minimum_risk", &forest_risk, nb::arg("forests"), nb::arg("counts"), nb::arg("offsets"),
        nb::arg("loss"), nb::arg("weights"), nb::kw_only(), nb::arg("gamma") = 1.0,
        nb::arg("temperature") = 0.0, nb::arg("gradient") = true, nb::arg("threads") = 1,
        R"(Returns expected counts and entropy over the derivations of forests, and the gradient of the risk.

Derivations have the distribution p(d) = exp(gamma weights . h(d)) / Z. The risk R is the sum of the
expected counts, each times its `loss` (Li and Eisner 2009, section 7). A sentence without derivations
adds nothing. Results are the same for any number of threads.

Args:
    forests: Forests of the sentences.
    counts: float32 (edges, columns), counts of the edges of all forests, one after another.
    offsets: int64 (sentences + 1), row of the first edge of each sentence.
    loss: float64 (columns), loss of one of each count.
    weights: float64 (features).
    gamma: Scale of the scores.
    temperature: Weight of the entropy H in R - temperature H.
    gradient: Compute the gradient and the derivative in gamma, which takes longer.
    threads: Number of threads.

Raises:
    ValueError: The arrays do not fit, or scores are not allowed (see Forest.distribution).
    ForestError: A record is damaged.)");
}

}  // namespace hiero
