#include <optional>

#include "bind_settings.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/scoring.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/symbol_code.h"
#include "python_lines.h"

namespace hiero {
namespace {

// An open binary file and what messages call it.
using NamedFile = std::pair<nb::object, std::string>;

ExtractStatistics extract(const NamedFile& source, const NamedFile& target, const NamedFile& links,
                          const std::string& output, const ExtractOptions& options, std::uint64_t memory,
                          const nb::object& progress) {
  PythonLines source_lines(source.first, source.second);
  PythonLines target_lines(target.first, target.second);
  PythonLines link_lines(links.first, links.second);
  const ExtractProgress report = [&progress](std::uint64_t pairs, std::uint64_t occurrences) {
    call_progress(progress, pairs, occurrences);
  };
  const nb::gil_scoped_release release;
  return extract_rules(source_lines.reader(), target_lines.reader(), link_lines.reader(), output, options,
                       memory, report);
}

ScoreStatistics score(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                      const std::optional<std::pair<NamedFile, NamedFile>>& bitext, double least_significance,
                      const nb::object& progress) {
  const ScoreProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  std::optional<PythonLines> source;
  std::optional<PythonLines> target;
  if (bitext) {
    source.emplace(bitext->first.first, bitext->first.second);
    target.emplace(bitext->second.first, bitext->second.second);
  }
  const nb::gil_scoped_release release;
  std::optional<SignificanceTest> test;
  if (bitext) {
    Vocab words = counts.words();
    test.emplace(source->reader(), target->reader(), words);
    if (test->pairs() != counts.statistics().pairs) {
      throw FormatError(source->reader().name() + ": " + std::to_string(test->pairs()) +
                        " sentence pairs without a blank side, where the rules come from " +
                        std::to_string(counts.statistics().pairs));
    }
  }
  return score_rules(counts, output, options, test ? &*test : nullptr, least_significance, report);
}

// A side as tokens of rule text.
nb::list side_tokens(const CountsFile& counts, Bytes code, const Vocab& words, bool is_source) {
  std::vector<Symbol> symbols;
  const std::byte* at = code.data();
  get_symbols(at, symbols);
  nb::list out;
  std::uint32_t number = 0;
  for (const Symbol symbol : symbols) {
    if (is_nonterminal(symbol)) {
      const std::uint32_t index = is_source ? number++ : payload(symbol);
      out.append("[X," + std::to_string(index + 1) + "]");
    } else {
      if (symbol >= words.size()) counts.damaged();
      out.append(escape(std::string(words[symbol])));
    }
  }
  return out;
}

void visit(const CountsFile& counts, const nb::object& callback) {
  const Vocab words = counts.words();
  counts.read_rules([&](std::span<const CodedRule> group) {
    for (const CodedRule& rule : group) {
      nb::list links;
      for (std::size_t i = 0; i < rule.links.size(); i += 2) {
        links.append(nb::make_tuple(static_cast<int>(rule.links[i]), static_cast<int>(rule.links[i + 1])));
      }
      const double count = static_cast<double>(rule.count.shares) / RuleExtractor::kOne;
      callback(side_tokens(counts, rule.source, words, true), side_tokens(counts, rule.target, words, false),
               links, count, rule.count.occurrences);
    }
  });
}

}  // namespace

void register_extract(nb::module_& m) {
  register_options<ExtractOptions>(m, "ExtractOptions", "What is extracted.");
  register_options<ScoreOptions>(m, "ScoreOptions",
                                 "Which rules are kept and how probabilities are smoothed.");

  define<ExtractStatistics>(m, "ExtractStatistics", "What was extracted.")
      .def_ro("pairs", &ExtractStatistics::pairs, "Sentence pairs.")
      .def_ro("phrases", &ExtractStatistics::phrases, "Initial phrase pair occurrences.")
      .def_ro("occurrences", &ExtractStatistics::occurrences, "Rule occurrences.")
      .def_ro("rules", &ExtractStatistics::rules, "Different rules.")
      .def_ro("rules_seen", &ExtractStatistics::rules_seen,
              "Rules of 1, 2, ... occurrences; the first 16 numbers.")
      .def_prop_ro(
          "monotone", [](const ExtractStatistics& s) { return s.distortion.monotone; },
          "Nonterminals that keep their place, by source words: 1 to 9, and 10 or more.")
      .def_prop_ro(
          "reordered", [](const ExtractStatistics& s) { return s.distortion.reordered; },
          "Nonterminals that cross another one or a link, likewise.");

  define<ScoreStatistics>(m, "ScoreStatistics", "Rules read and rules kept.")
      .def_ro("read", &ScoreStatistics::read)
      .def_ro("kept", &ScoreStatistics::kept);

  define<CountsFile>(m, "RuleCounts", "Counted rules, the outcome of extraction, in a file.")
      .def(nb::init<const std::string&>(), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           "Opens and checks a file. Raises OSError, or FormatError.")
      .def_prop_ro("statistics", &CountsFile::statistics)
      .def("visit", &visit, nb::arg("visit"),
           "Calls visit(source, target, links, count, occurrences) for every rule: tokens as in rule text,\n"
           "(source, target) positions of its most frequent alignment, the sum of its shares of initial\n"
           "phrase pairs, and how often it was extracted.");

  m.def("extract", &extract, nb::arg("source"), nb::arg("target"), nb::arg("links"), nb::arg("output"),
        nb::arg("options"), nb::arg("memory"), nb::arg("progress").none());
  m.def("score", &score, nb::arg("counts"), nb::arg("output"), nb::arg("options"), nb::arg("bitext"),
        nb::arg("least_significance"), nb::arg("progress").none());
  m.def("fisher_minus_log_p", &fisher_minus_log_p, nb::arg("both"), nb::arg("source"), nb::arg("target"),
        nb::arg("pairs"),
        "-log of the probability that of `pairs` sentence pairs those that hold one of two things, `source` "
        "and\n"
        "`target` many, have `both` or more in common by chance (Fisher's exact test).");
}

}  // namespace hiero
