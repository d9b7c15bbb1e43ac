#include "bind_forest.h"
#include "hiero/tune/outside_strings.h"
#include "token_lists.h"

namespace hiero {
namespace {

using Span = OutsideStrings::Span;

std::vector<std::string> tokens_of(const OutsideStrings& outside, const OutsideStrings::Words& words) {
  std::vector<std::string> out;
  for (const std::int32_t word : words)
    out.push_back(outside.chart()->forest()->graph->words[static_cast<std::size_t>(word)]);
  return out;
}

std::vector<std::vector<std::string>> token_lists(const nb::object& references) {
  try {
    return nb::cast<TokenLists>(references).values;
  } catch (const nb::cast_error&) {
    throw type_error("references: expected lists of tokens, not " + repr_of(references));
  }
}

}  // namespace

void register_outside(nb::module_& m) {
  const OutsideOptions defaults;
  define<OutsideStrings>(m, "OutsideStrings",
                         "What stands left and right of the spans of a chart in translations of the "
                         "whole sentence (Zhai et al.\n"
                         "2015, section 3.2), see Chart.outside.")
      .def_prop_ro("chart", [](const OutsideStrings& o) { return o.chart(); })
      .def_prop_ro("kind", [](const OutsideStrings& o) { return std::string(name_of(o.kind())); })
      .def_prop_ro(
          "reached",
          [](const OutsideStrings& o) {
            std::vector<std::pair<std::int32_t, std::int32_t>> out;
            for (const auto& [begin, end] : o.reached()) out.emplace_back(begin, end);
            return out;
          },
          "Spans that top-down or the guided backtrace came by, in order; with the other kinds all.")
      .def(
          "around",
          [](OutsideStrings& o, std::int32_t begin, std::int32_t end) {
            const auto [left, right] = o.around({begin, end});
            return nb::make_tuple(tokens_of(o, left), tokens_of(o, right));
          },
          nb::arg("begin"), nb::arg("end"),
          "The tokens left and right of a span. Where the span is not reached they are those of "
          "concatenation.\n"
          "Raises IndexError for no span of the sentence.")
      .def(
          "candidates",
          // With the lock held: they remember what they have made.
          [](OutsideStrings& o, std::int32_t begin, std::int32_t end) { return o.candidates({begin, end}); },
          nb::arg("begin"), nb::arg("end"),
          "What tuning learns from of a span, as KBestArrays: of the whole sentence the k best "
          "translations,\n"
          "else the items of the beam, or the best of them where the span is not reached; and what the "
          "guided\n"
          "backtrace recovers. Words are of whole translations, or with \"nothing\" outside of the span "
          "alone;\n"
          "features and scores are of the partial derivations. Edges of what is recovered are over other\n"
          "nodes than their tails. None for spans without an item.")
      .def(
          "recovered",
          [](OutsideStrings& o, std::int32_t begin, std::int32_t end) {
            std::vector<std::pair<Derivation, double>> out;
            for (const GoodDerivation& good : o.recovered({begin, end}))
              out.emplace_back(o.derivation(good), good.bleu);
            return out;
          },
          nb::arg("begin"), nb::arg("end"),
          "The derivations that the guided backtrace recovers for a span, best first, each of a forest of "
          "its\n"
          "own, with its potential Bleu+1 from 0 to 1.")
      .def_prop_ro(
          "oracle", [](const OutsideStrings& o) { return tokens_of(o, o.guided().oracle); },
          "The tokens of the translation of highest potential Bleu+1 that the guided backtrace saw.")
      .def_prop_ro(
          "oracle_bleu", [](const OutsideStrings& o) { return o.guided().oracle_bleu; },
          "Its Bleu+1, from 0 to 1.")
      .def_prop_ro(
          "best_bleu", [](const OutsideStrings& o) { return o.guided().best_bleu; },
          "The highest Bleu+1 of the k best translations.");
  nb::borrow<nb::class_<Chart>>(m.attr("Chart"))
      .def(
          "outside",
          [](const std::shared_ptr<Chart>& chart, const std::string& kind, const nb::object& references,
             Py_ssize_t k, Py_ssize_t beam, Py_ssize_t recovered, const std::string& length) {
            const auto which = value_named<Outside>(kind, "kind");
            const OutsideOptions options{count_of(k, "k"),
                                         {count_of(beam, "beam"), count_of(recovered, "recovered"),
                                          value_named<ReferenceLength>(length, "effective length")}};
            const std::vector<std::vector<std::string>> given =
                references.is_none() ? std::vector<std::vector<std::string>>() : token_lists(references);
            const nb::gil_scoped_release release;
            return std::make_unique<OutsideStrings>(chart, which, given, options);
          },
          nb::arg("kind"), nb::arg("references") = nb::none(), nb::kw_only(), nb::arg("k") = defaults.k,
          nb::arg("beam") = defaults.guided.beam, nb::arg("recovered") = defaults.guided.recovered,
          nb::arg("effective_length") = name_of(defaults.guided.reference_length),
          "What is around each span in a translation of the sentence: \"nothing\", \"concatenation\" of the "
          "best\n"
          "translations before and behind, \"top-down\" from the `k` best translations, or \"guided\" "
          "backtrace,\n"
          "which wants references, lists of tokens, and a chart with keep=\"splits\" (Zhai et al. 2015, "
          "section\n"
          "3.2). `beam` items of a span take part, and the guided backtrace recovers so many more at most. "
          "Raises\n"
          "ValueError.");
}

}  // namespace hiero
