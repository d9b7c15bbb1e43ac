// BLEU of statistics, and oracle hypotheses of forests.
#include "bleu_rows.h"
#include "conversions.h"
#include "hiero/metrics/oracle.h"
#include "token_lists.h"

namespace hiero {
namespace {

constexpr auto kColumns = static_cast<Py_ssize_t>(kBleuColumns);

BleuCounts counts_of_array(const Array<double>& values) {
  if (values.ndim() != 1 || values.size() != kColumns)
    throw std::invalid_argument("BLEU counts: expected 10 numbers");
  return counts_of_row(values.data());
}

Shape shape_of_rows(const Array<double>& counts) {
  if (counts.ndim() == 0 || counts.shape(static_cast<std::size_t>(counts.ndim() - 1)) != kColumns)
    throw std::invalid_argument("BLEU counts: expected rows of 10 numbers");
  Shape shape;
  for (Py_ssize_t i = 0; i + 1 < counts.ndim(); ++i)
    shape.push_back(counts.shape(static_cast<std::size_t>(i)));
  return shape;
}

// Returns score(i, counts) of every row i.
template <class Score>
Any by_row(const Array<double>& counts, const Score& score) {
  Array<double> out(shape_of_rows(counts));
  double* scores = out.mutable_data();
  {
    const nb::gil_scoped_release release;
    for (Py_ssize_t row = 0; row < out.size(); ++row)
      scores[row] = score(row, counts_of_row(counts.data() + row * kColumns));
  }
  if (counts.ndim() == 1) return nb::float_(scores[0]);
  return out.object();
}

std::size_t checked_order(std::int32_t order) {
  if (order < 1 || order > static_cast<std::int32_t>(kBleuOrder))
    throw std::invalid_argument("orders: expected 1 to 4");
  return static_cast<std::size_t>(order);
}

// `orders` is one number for all rows, or an array of the rows' shape.
Any bleu_by_row(const Array<double>& counts, const ArrayLike& orders) {
  if (std::int32_t order = 0; nb::try_cast(orders, order))
    return by_row(counts, [&](Py_ssize_t, const BleuCounts& row) { return bleu(row, checked_order(order)); });
  const nb::object shape = nb::tuple(nb::cast(shape_of_rows(counts)));
  const nb::object numpy = nb::module_::import_("numpy");
  const auto order_of = integers<std::int32_t>(numpy.attr("broadcast_to")(orders, shape), "orders");
  return by_row(counts, [&](Py_ssize_t i, const BleuCounts& row) {
    return bleu(row, checked_order(order_of[static_cast<std::size_t>(i)]));
  });
}

std::vector<OracleHypothesis> rescored(const std::shared_ptr<Forest>& forest, const EdgeValues& scores,
                                       double mu, const TokenLists& references, const Array<double>& document,
                                       double document_source, std::size_t k, std::size_t beam, Truth unique,
                                       const std::string& effective_length) {
  const RescoreOptions options{mu,
                               counts_of_array(document),
                               document_source,
                               value_named<ReferenceLength>(effective_length, "effective length"),
                               k,
                               beam,
                               unique};
  const std::vector<double> by_edge = edge_values(*forest, scores);
  const nb::gil_scoped_release release;
  return rescore(forest, by_edge, references.values, options);
}

void register_rescore(nb::module_& m) {
  define<OracleHypothesis>(m, "OracleHypothesis", "Hypothesis of Forest.rescore.")
      .def_ro("derivation", &OracleHypothesis::derivation, "The derivation; its score is the model's.")
      .def_ro("objective", &OracleHypothesis::objective,
              "The objective that it was chosen by, computed from matches that are not clipped.")
      .def_prop_ro(
          "counts", [](const OracleHypothesis& h) { return count_array(h.counts); },
          "BLEU's statistics of its string, float64 (10), with clipped matches; see ReferenceSet.bleu.");
  const RescoreOptions defaults;
  m.attr("RESCORE_K") = defaults.k;
  m.attr("RESCORE_BEAM") = defaults.beam;
  nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
      .def(
          "rescore", &rescored, nb::arg("scores").none(), nb::arg("mu"), nb::arg("references"), nb::kw_only(),
          nb::arg("document"), nb::arg("document_source"), nb::arg("k") = defaults.k,
          nb::arg("beam") = defaults.beam, nb::arg("unique") = defaults.unique,
          nb::arg("effective_length") = name_of(defaults.reference_length),
          R"(Returns the k best derivations by model score and BLEU together (Chiang et al. 2008, section 2.4).

The objective is (1 - mu) B + mu score, B = (document_source + |f|) BLEU(document + counts), where |f|
is the length of the source sentence; mu = 0.5 gives oracles, mu = 0 the best BLEU, and mu = inf
maximises score - B. B counts matches without clipping, and does not decompose over edges, so that the
search is not exact.

Args:
    scores: float64 (edges), finite, or weights by feature name.
    mu: Weight of the model score, 0 to inf.
    references: Token lists.
    document: float64 (10), statistics of the document so far; see bleu_counts.
    document_source: Number of source words of the document so far.
    k: Number of derivations.
    beam: Number of items that nodes below the root keep; 1 in the paper.
    unique: Of items with the same string, keep the best one only.
    effective_length: "shortest", "closest" or "average".

Raises:
    ValueError: An argument is out of range, or all references are empty.
    ForestError: A derivation has over 2^27 edges, or a string over 2^30 words.)");
}

}  // namespace

void register_oracle(nb::module_& m) {
  register_rescore(m);
  m.def("bleu", &bleu_by_row, nb::arg("counts"), nb::arg("orders") = kBleuOrder,
        R"(Returns BLEU, from 0 to 1, of rows of statistics or of sums of rows (Papineni et al. 2002).

Args:
    counts: float64 (..., 10), see ReferenceSet.bleu.
    orders: Greatest length of n-grams, 1 to 4: one number, or an array of shape (...).

Returns:
    float64 (...), a float for one row; 0 where a precision is 0.

Raises:
    ValueError: Rows do not have 10 numbers, or an order is out of range.)");
  m.def(
      "bleu_plus_one",
      [](const Array<double>& counts) {
        return by_row(counts, [](Py_ssize_t, const BleuCounts& row) { return bleu_plus_one(row); });
      },
      nb::arg("counts"),
      R"(Returns BLEU with 1 added to matches and totals of n > 1 (Lin and Och 2004).

Args:
    counts: float64 (..., 10), see ReferenceSet.bleu.

Returns:
    float64 (...), a float for one row; 0 where no word matches.

Raises:
    ValueError: Rows do not have 10 numbers.)");
}

}  // namespace hiero
