// Rules of corrected translations.
#include "bind_settings.h"
#include "hiero/extract/corrected_rules.h"
#include "token_lists.h"

namespace hiero {
namespace {

using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void add_pair(CorrectedRules& rules, const Tokens& source, const Tokens& target, const Links& links) {
  std::vector<AlignmentLink> pairs;
  for (const auto& [from, to] : links) pairs.push_back({from, to});
  rules.add(source.values, target.values, std::move(pairs));
}

double count_of_shares(std::uint64_t shares) { return static_cast<double>(shares) / RuleExtractor::kOne; }

Links links_of(const CountedRule& rule) {
  Links out;
  for (const AlignmentLink& link : rule.links) out.emplace_back(link.source, link.target);
  return out;
}

}  // namespace

void register_corrections(nb::module_& m) {
  define<CountedRule>(m, "CountedRule", "Rule of corrected translations, with its counts.")
      .def_ro("source", &CountedRule::source, "Source side as in rule text.")
      .def_ro("target", &CountedRule::target, "Target side as in rule text.")
      .def_prop_ro("links", &links_of, "Most frequent word alignment: (source, target) token positions.")
      .def_prop_ro(
          "count", [](const CountedRule& rule) { return count_of_shares(rule.count.shares); },
          "Sum of the rule's shares of initial phrase pairs.")
      .def_prop_ro(
          "occurrences", [](const CountedRule& rule) { return rule.count.occurrences; },
          "Number of occurrences of the rule in corrections.")
      .def_prop_ro(
          "source_count", [](const CountedRule& rule) { return count_of_shares(rule.source_shares); },
          "Sum of the counts of all rules of corrections with the same source side.")
      .def_prop_ro(
          "target_count", [](const CountedRule& rule) { return count_of_shares(rule.target_shares); },
          "Sum of the counts of all rules of corrections with the same target side.")
      .def_prop_ro(
          "trained_count", [](const CountedRule& rule) { return rule.trained.count; },
          "Count of the rule in the training; 0 if the table of the training does not have it.")
      .def_prop_ro(
          "trained_occurrences", [](const CountedRule& rule) { return rule.trained.occurrences; },
          "Number of occurrences of the rule in the training: 0, 1, or 2 for more.")
      .def_prop_ro(
          "trained_target_count", [](const CountedRule& rule) { return rule.trained.target_count; },
          "Sum of the counts in the training of all rules with the same target side; 0 if the table of\n"
          "the training does not have the rule.")
      .def_ro("trained_source_count", &CountedRule::trained_source_count,
              "Sum of the counts in the training of all rules with the same source side.")
      .def_prop_ro(
          "lex_fe", [](const CountedRule& rule) { return rule.lexical.source_given_target; },
          "Natural log of the lexical weight of the source side given the target side.")
      .def_prop_ro(
          "lex_ef", [](const CountedRule& rule) { return rule.lexical.target_given_source; },
          "Natural log of the lexical weight of the target side given the source side.");
  define<CorrectedRules>(m, "CorrectedRules",
                         R"(Rules of corrected translations, counted as corrections come.

Lexical weights are by the words of a training and of the corrections. Not for several threads at once.)")
      .def(nb::init<std::shared_ptr<const CountsFile>, std::shared_ptr<const RuleTable>,
                    const ExtractOptions&>(),
           nb::arg("words"), nb::arg("table"), nb::arg("options"),
           R"(Makes a table without rules.

Args:
    words: Word translation counts of a training; the rules of the file are not read.
    table: Rule table of the training.
    options: How rules are extracted.

Raises:
    ValueError: An option is out of range.)")
      .def("add", &add_pair, nb::arg("source"), nb::arg("target"), nb::arg("links"),
           R"(Extracts and counts the rules of a pair.

Args:
    source: Source tokens.
    target: Target tokens.
    links: Word alignment: (source, target) positions.

Raises:
    IndexError: A link points beyond a sentence.)")
      .def(
          "rules_for",
          [](const CorrectedRules& rules, const Tokens& sentence) {
            return rules.rules_for(sentence.values);
          },
          nb::arg("sentence"),
          R"(Returns the rules whose source words are all in a sentence.

Args:
    sentence: Source tokens.)")
      .def("__len__", &CorrectedRules::size, "Returns the number of different rules.");
}

}  // namespace hiero
