#include <tuple>

#include "conversions.h"
#include "hiero/tune/outside_strings.h"
#include "token_lists.h"

namespace hiero {
namespace {

using Spans = std::vector<std::pair<std::int32_t, std::int32_t>>;
using References = Annotated<"collections.abc.Sequence[collections.abc.Sequence[str]]">;

std::vector<std::vector<std::string>> token_lists(const nb::object& references) {
  if (references.is_none()) return {};
  try {
    return nb::cast<TokenLists>(references).values;
  } catch (const nb::cast_error&) {
    throw type_error("references: expected lists of tokens, not " + repr_of(references));
  }
}

std::unique_ptr<OutsideStrings> outside_strings(const std::shared_ptr<Chart>& chart, const std::string& kind,
                                                const References& references, Py_ssize_t k, Py_ssize_t beam,
                                                Py_ssize_t recovered, double margin,
                                                const std::string& effective_length) {
  const auto outside_kind = value_named<Outside>(kind, "kind");
  if (!(margin >= 0)) throw std::invalid_argument("margin: expected 0 or more");
  const OutsideOptions options{count_of(k, "k"),
                               {count_of(beam, "beam"), count_of(recovered, "recovered"),
                                value_named<ReferenceLength>(effective_length, "effective length")},
                               margin};
  const std::vector<std::vector<std::string>> lists = token_lists(references);
  const nb::gil_scoped_release release;
  return std::make_unique<OutsideStrings>(chart, outside_kind, lists, options);
}

Spans reached_spans(const OutsideStrings& outside) {
  Spans out;
  for (const auto& [begin, end] : outside.reached()) out.emplace_back(begin, end);
  return out;
}

std::pair<std::vector<std::string>, std::vector<std::string>> tokens_around(OutsideStrings& outside,
                                                                            std::int32_t begin,
                                                                            std::int32_t end) {
  const auto [left, right] = outside.around({begin, end});
  const Hypergraph& forest = *outside.chart()->forest();
  return {tokens(forest, left), tokens(forest, right)};
}

std::vector<std::pair<Derivation, double>> recovered_derivations(OutsideStrings& outside, std::int32_t begin,
                                                                 std::int32_t end) {
  std::vector<std::pair<Derivation, double>> out;
  for (const RecoveredDerivation& recovered : outside.recovered({begin, end}))
    out.emplace_back(outside.derivation(recovered), recovered.bleu);
  return out;
}

void register_strings(nb::module_& m) {
  define<OutsideStrings>(
      m, "OutsideStrings",
      R"(Target words left and right of the spans of a chart, in translations of the sentence.

With them, partial derivations can be judged by whole translations (Zhai et al. 2015, section 3.2). See
Chart.outside, which makes them. Not for several threads at once.)")
      .def_prop_ro(
          "chart", [](const OutsideStrings& o) { return o.chart(); }, "The chart.")
      .def_prop_ro(
          "kind", [](const OutsideStrings& o) { return std::string(name_of(o.kind())); },
          "Kind of outside strings, as it was given to Chart.outside.")
      .def_prop_ro(
          "reached", &reached_spans,
          "Spans that the top-down or guided traversal reached, in order; all spans for other kinds.")
      .def("around", &tokens_around, nb::arg("begin"), nb::arg("end"),
           R"(Returns the tokens left and right of a span.

Spans that are not reached have those of the kind "concatenation".

Args:
    begin: First source word.
    end: Source word past the last one.

Raises:
    IndexError: The sentence has no such span.)")
      .def(
          "candidates",
          // Python's lock is held: strings are computed once and stored.
          [](OutsideStrings& o, std::int32_t begin, std::int32_t end) { return o.candidates({begin, end}); },
          nb::arg("begin"), nb::arg("end"),
          R"(Returns the candidate translations of a span for tuning.

For the whole sentence they are the k best translations, for other spans the items of the beam, or
only the best item where the span is not reached; then the derivations that the guided backtrace
recovers.

Args:
    begin: First source word.
    end: Source word past the last one.

Returns:
    Candidates, none for a span without items. `words` are those of whole translations, or with the
        kind "nothing" of the span alone; `features` and `scores` are those of the partial
        derivations. The tails of edges of recovered derivations are not the heads of the edges that
        follow.

Raises:
    IndexError: The sentence has no such span.)")
      .def("recovered", &recovered_derivations, nb::arg("begin"), nb::arg("end"),
           R"(Returns the derivations that the guided backtrace recovers for a span, best first.

Args:
    begin: First source word.
    end: Source word past the last one.

Returns:
    Pairs of a derivation, in a forest that has no other, and the BLEU+1, from 0 to 1, of the
        translation that it would be part of.)")
      .def_prop_ro(
          "oracle", [](const OutsideStrings& o) { return tokens(*o.chart()->forest(), o.guided().oracle); },
          "Tokens of the translation with the highest BLEU+1 that the guided backtrace came across.")
      .def_prop_ro(
          "oracle_bleu", [](const OutsideStrings& o) { return o.guided().oracle_bleu; },
          "BLEU+1 of `oracle`, from 0 to 1.")
      .def_prop_ro(
          "best_bleu", [](const OutsideStrings& o) { return o.guided().best_bleu; },
          "Highest BLEU+1 among the k best translations, from 0 to 1.");
}

}  // namespace

void register_outside(nb::module_& m) {
  register_strings(m);
  const OutsideOptions defaults;
  nb::borrow<nb::class_<Chart>>(m.attr("Chart"))
      .def(
          "outside", &outside_strings, nb::arg("kind"), nb::arg("references") = nb::none(), nb::kw_only(),
          nb::arg("k") = defaults.k, nb::arg("beam") = defaults.guided.beam,
          nb::arg("recovered") = defaults.guided.recovered, nb::arg("margin") = defaults.margin,
          nb::arg("effective_length") = name_of(defaults.guided.reference_length),
          R"(Returns the target words left and right of each span in translations (Zhai et al. 2015, section 3.2).

Args:
    kind: "nothing"; "concatenation" of the best translations before and behind the span; "top-down"
        from the k best translations; or "guided" backtrace, for a chart with keep="splits".
    references: Token lists, for "guided" only.
    k: Number of translations of the sentence, with distinct strings.
    beam: Number of items of each span that are considered, the best ones.
    recovered: Greatest number of derivations that the guided backtrace recovers for a span.
    margin: How far below the worst other candidate of its span a recovered derivation may score to be
        a candidate, in units of the distance from the best to the worst of these.
    effective_length: "shortest", "closest" or "average".

Raises:
    ValueError: An argument is out of range, or "guided" has no reference with a token.)");
}

}  // namespace hiero
