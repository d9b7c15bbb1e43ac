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
using NamedFile = std::pair<py::object, std::string>;

ExtractStatistics extract(const NamedFile& source, const NamedFile& target, const NamedFile& links,
                          const std::string& output, const ExtractOptions& options, std::uint64_t memory,
                          const py::object& progress) {
  PythonLines source_lines(source.first, source.second);
  PythonLines target_lines(target.first, target.second);
  PythonLines link_lines(links.first, links.second);
  const ExtractProgress report = [&progress](std::uint64_t pairs, std::uint64_t occurrences) {
    call_progress(progress, pairs, occurrences);
  };
  const py::gil_scoped_release release;
  return extract_rules(source_lines.reader(), target_lines.reader(), link_lines.reader(), output, options,
                       memory, report);
}

ScoreStatistics score(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                      const std::optional<std::pair<NamedFile, NamedFile>>& bitext, double least_significance,
                      const py::object& progress) {
  const ScoreProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  std::optional<PythonLines> source;
  std::optional<PythonLines> target;
  if (bitext) {
    source.emplace(bitext->first.first, bitext->first.second);
    target.emplace(bitext->second.first, bitext->second.second);
  }
  const py::gil_scoped_release release;
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
py::list side_tokens(const CountsFile& counts, Bytes code, const Vocab& words, bool is_source) {
  std::vector<Symbol> symbols;
  const std::byte* at = code.data();
  get_symbols(at, symbols);
  py::list out;
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

void visit(const CountsFile& counts, const py::object& callback) {
  const Vocab words = counts.words();
  counts.read_rules([&](std::span<const CodedRule> group) {
    for (const CodedRule& rule : group) {
      py::list links;
      for (std::size_t i = 0; i < rule.links.size(); i += 2) {
        links.append(py::make_tuple(static_cast<int>(rule.links[i]), static_cast<int>(rule.links[i + 1])));
      }
      const double count = static_cast<double>(rule.count.shares) / RuleExtractor::kOne;
      callback(side_tokens(counts, rule.source, words, true), side_tokens(counts, rule.target, words, false),
               links, count, rule.count.occurrences);
    }
  });
}

}  // namespace

void register_extract(py::module_& m) {
  register_options<ExtractOptions>(m, "ExtractOptions", "What is extracted.");
  register_options<ScoreOptions>(m, "ScoreOptions",
                                 "Which rules are kept and how probabilities are smoothed.");

  py::class_<ExtractStatistics>(m, "ExtractStatistics", "What was extracted.")
      .def_readonly("pairs", &ExtractStatistics::pairs, "Sentence pairs.")
      .def_readonly("phrases", &ExtractStatistics::phrases, "Initial phrase pair occurrences.")
      .def_readonly("occurrences", &ExtractStatistics::occurrences, "Rule occurrences.")
      .def_readonly("rules", &ExtractStatistics::rules, "Different rules.")
      .def_readonly("rules_seen", &ExtractStatistics::rules_seen,
                    "Rules of 1, 2, ... occurrences; the first 16 numbers.")
      .def_property_readonly(
          "monotone", [](const ExtractStatistics& s) { return s.distortion.monotone; },
          "Nonterminals that keep their place, by source words: 1 to 9, and 10 or more.")
      .def_property_readonly(
          "reordered", [](const ExtractStatistics& s) { return s.distortion.reordered; },
          "Nonterminals that cross another one or a link, likewise.");

  py::class_<ScoreStatistics>(m, "ScoreStatistics", "Rules read and rules kept.")
      .def_readonly("read", &ScoreStatistics::read)
      .def_readonly("kept", &ScoreStatistics::kept);

  py::class_<CountsFile>(m, "RuleCounts", "Counted rules, the outcome of extraction, in a file.")
      .def(py::init<const std::string&>(), py::arg("path"), py::call_guard<py::gil_scoped_release>(),
           "Opens and checks a file. Raises OSError, or FormatError.")
      .def_property_readonly("statistics", &CountsFile::statistics)
      .def("visit", &visit, py::arg("visit"),
           "Calls visit(source, target, links, count, occurrences) for every rule: tokens as in rule text,\n"
           "(source, target) positions of its most frequent alignment, the sum of its shares of initial\n"
           "phrase pairs, and how often it was extracted.");

  m.def("extract", &extract, py::arg("source"), py::arg("target"), py::arg("links"), py::arg("output"),
        py::arg("options"), py::arg("memory"), py::arg("progress"));
  m.def("score", &score, py::arg("counts"), py::arg("output"), py::arg("options"), py::arg("bitext"),
        py::arg("least_significance"), py::arg("progress"));
  m.def("fisher_minus_log_p", &fisher_minus_log_p, py::arg("both"), py::arg("source"), py::arg("target"),
        py::arg("pairs"),
        "-log of the probability that of `pairs` sentence pairs those that hold one of two things, `source` "
        "and\n"
        "`target` many, have `both` or more in common by chance (Fisher's exact test).");
}

}  // namespace hiero
