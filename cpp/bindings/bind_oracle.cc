#include <algorithm>

#include "bind_forest.h"
#include "bind_references.h"
#include "hiero/metrics/oracle.h"
#include "token_lists.h"

namespace hiero {
namespace {

constexpr Py_ssize_t kRow = 2 + 2 * static_cast<Py_ssize_t>(kBleuOrder);

BleuCounts from_row(const double* row) {
  BleuCounts counts;
  counts.length = row[0];
  counts.reference_length = row[1];
  std::copy_n(row + 2, kBleuOrder, counts.totals.begin());
  std::copy_n(row + 2 + kBleuOrder, kBleuOrder, counts.matches.begin());
  return counts;
}

BleuCounts from_array(const Array<double>& values) {
  if (values.ndim() != 1 || values.size() != kRow)
    throw std::invalid_argument("BLEU counts: expected 10 numbers");
  return from_row(values.data());
}

Shape shape_of_rows(const Array<double>& counts) {
  if (counts.ndim() == 0 || counts.shape(counts.ndim() - 1) != kRow)
    throw std::invalid_argument("BLEU counts: expected rows of 10 numbers");
  Shape shape;
  for (Py_ssize_t i = 0; i + 1 < counts.ndim(); ++i) shape.push_back(counts.shape(i));
  return shape;
}

// score(i, counts) of every row i.
template <class Score>
nb::object by_row(const Array<double>& counts, const Score& score) {
  Array<double> out(shape_of_rows(counts));
  double* scores = out.mutable_data();
  {
    const nb::gil_scoped_release release;
    for (Py_ssize_t row = 0; row < out.size(); ++row)
      scores[row] = score(row, from_row(counts.data() + row * kRow));
  }
  if (counts.ndim() == 1) return nb::float_(scores[0]);
  return out.object();
}

// Orders are one of all rows, or in an array of the rows' shape.
nb::object bleu_of(const Array<double>& counts, const nb::object& orders) {
  const auto checked = [](std::int32_t order) {
    if (order < 1 || order > static_cast<std::int32_t>(kBleuOrder))
      throw std::invalid_argument("orders: expected 1 to 4");
    return static_cast<std::size_t>(order);
  };
  if (std::int32_t order = 0; nb::try_cast(orders, order))
    return by_row(counts, [&](Py_ssize_t, const BleuCounts& own) { return bleu(own, checked(order)); });
  const nb::object shape = nb::tuple(nb::cast(shape_of_rows(counts)));
  const nb::object numpy = nb::module_::import_("numpy");
  const auto of_row = integers<std::int32_t>(numpy.attr("broadcast_to")(orders, shape), "orders");
  return by_row(counts,
                [&](Py_ssize_t row, const BleuCounts& own) { return bleu(own, checked(of_row[row])); });
}

struct OracleHypothesis {
  Derivation derivation;
  double objective;
  BleuCounts counts;
};

}  // namespace

void register_oracle(nb::module_& m) {
  define<OracleHypothesis>(m, "OracleHypothesis", "A hypothesis of Forest.rescore.")
      .def_ro("derivation", &OracleHypothesis::derivation, "Its `score` is the model's.")
      .def_ro("objective", &OracleHypothesis::objective,
              "What it was chosen by; with unclipped matches, unlike `counts`.")
      .def_prop_ro(
          "counts", [](const OracleHypothesis& h) { return as_array(count_row(h.counts)); },
          "float64 (10): length, effective reference length, n-gram totals and clipped matches, n = 1 to 4.");
  const RescoreOptions defaults;
  m.attr("RESCORE_K") = defaults.k;
  m.attr("RESCORE_BEAM") = defaults.beam;
  m.def(
      "bleu", &bleu_of, nb::arg("counts"), nb::arg("orders") = kBleuOrder,
      "BLEU from 0 to 1 of rows of such counts, or of sums of them, (..., 10) to (...); 0 if a precision is\n"
      "0 (Papineni et al. 2002). `orders`: of how many orders, one number or one a row.");
  m.def(
      "bleu_plus_one",
      [](const Array<double>& counts) {
        return by_row(counts, [](Py_ssize_t, const BleuCounts& own) { return bleu_plus_one(own); });
      },
      nb::arg("counts"),
      "The same with one added to matches and totals of n > 1 (Lin and Och 2004); 0 where no word matches.");
  nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
      .def(
          "rescore",
          [](const std::shared_ptr<Forest>& forest, const nb::object& scores, double mu,
             const TokenLists& lists, const Array<double>& document, double document_source, std::size_t k,
             std::size_t beam, Truth unique, const std::string& kind) {
            const RescoreOptions options{mu,
                                         from_array(document),
                                         document_source,
                                         value_named<ReferenceLength>(kind, "effective length"),
                                         k,
                                         beam,
                                         unique};
            const std::vector<double> by_edge = edge_values(*forest, scores);
            const ReferenceSet::References& references = lists.values;
            const ReferenceSet set({&references, 1});
            const std::vector<std::int32_t> numbers = set.words(forest->graph->words);
            std::vector<OracleHypothesis> out;
            const nb::gil_scoped_release release;
            for (RescoredDerivation& found : rescore(*forest, by_edge, references, options)) {
              std::vector<std::int32_t> words = yield_words(*forest, found.edges);
              for (std::int32_t& word : words) word = numbers[word];
              out.push_back({{forest, found.score, std::move(found.edges)},
                             found.objective,
                             set.bleu(0, words, options.reference_length)});
            }
            return out;
          },
          nb::arg("scores").none(), nb::arg("mu"), nb::arg("references"), nb::kw_only(), nb::arg("document"),
          nb::arg("document_source"), nb::arg("k") = defaults.k, nb::arg("beam") = defaults.beam,
          nb::arg("unique") = defaults.unique,
          nb::arg("effective_length") = name_of(defaults.reference_length),
          "The k best derivations, as OracleHypothesis, under (1 - mu) B + mu score, B = (document_source + "
          "|f|) "
          "BLEU\n"
          "of the document's counts (10 numbers, see bleu_counts) and the hypothesis's; mu = inf: score - B "
          "(Chiang\n"
          "et al. 2008, section 2.4). Inner nodes keep `beam` items (1 in the paper), so that the search is "
          "not "
          "exact;\n"
          "`unique`: of items with the same string only the best. Raises ValueError; ForestError for "
          "derivations\n"
          "of over 2^27 edges and strings of over 2^30 words.");
}

}  // namespace hiero
