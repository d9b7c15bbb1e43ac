// Rule extraction and scoring.
#include "bind_extract.h"
#include "bind_settings.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/scoring.h"
#include "python_lines.h"

namespace hiero {
namespace {

using RuleVisitor =
    Annotated<"collections.abc.Callable[[list[str], list[str], list[tuple[int, int]], float, int], object]">;

ExtractStatistics extract_from_files(const NamedFile& source, const NamedFile& target, const NamedFile& links,
                                     const std::string& output, const ExtractOptions& options,
                                     std::uint64_t memory, int threads, const Counters& progress) {
  AlignedLines lines(source, target, links);
  const ExtractProgress report = report_to(progress);
  const nb::gil_scoped_release release;
  return extract_rules(lines.source.reader(), lines.target.reader(), lines.links.reader(), output, options,
                       memory, thread_count(threads), report);
}

ScoreStatistics score_counts(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                             const BitextFiles& bitext, double least_significance, int threads,
                             const Counter& progress) {
  const ScoreProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  TestedBitext tested(bitext);
  const nb::gil_scoped_release release;
  return score_rules(counts, output, options, tested.read(counts), least_significance, thread_count(threads),
                     report);
}

void visit_rules(const CountsFile& counts, const RuleVisitor& callback) {
  for (RuleGroups groups(counts); groups.next();) {
    for (const CodedRule& rule : groups.rules()) {
      std::vector<std::pair<int, int>> links;
      for (std::size_t i = 0; i < rule.links.size(); i += 2)
        links.emplace_back(static_cast<int>(rule.links[i]), static_cast<int>(rule.links[i + 1]));
      const double count = static_cast<double>(rule.count.shares) / RuleExtractor::kOne;
      callback(counts.source_tokens(rule.source), counts.target_tokens(rule.target), links, count,
               rule.count.occurrences);
    }
  }
}

void register_statistics(nb::module_& m) {
  define<ExtractStatistics>(m, "ExtractStatistics", "Statistics of rule extraction.")
      .def_ro("pairs", &ExtractStatistics::pairs, "Number of sentence pairs.")
      .def_ro("phrases", &ExtractStatistics::phrases, "Number of occurrences of initial phrase pairs.")
      .def_ro("occurrences", &ExtractStatistics::occurrences, "Number of occurrences of rules.")
      .def_ro("rules", &ExtractStatistics::rules, "Number of different rules.")
      .def_ro("rules_seen", &ExtractStatistics::rules_seen,
              "Numbers of rules with 1, 2, ..., 16 occurrences.")
      .def_prop_ro(
          "monotone", [](const ExtractStatistics& s) { return s.distortion.monotone; },
          "Numbers of nonterminals that are not reordered, by length: 1 to 9 source words, and 10 or\n"
          "more.")
      .def_prop_ro(
          "reordered", [](const ExtractStatistics& s) { return s.distortion.reordered; },
          "Numbers of nonterminals that cross another one or a link, by length: 1 to 9 source words, and\n"
          "10 or more.");
  define<ScoreStatistics>(m, "ScoreStatistics", "Statistics of rule scoring.")
      .def_ro("read", &ScoreStatistics::read, "Number of rules read.")
      .def_ro("kept", &ScoreStatistics::kept, "Number of rules in the table.");
}

void register_counts(nb::module_& m) {
  define<CountsFile>(m, "RuleCounts", "Counted rules in a file, the result of extraction.")
      .def(nb::init<const std::string&>(), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           R"(Opens a file. Its rules are checked when they are read.

Args:
    path: The file.

Raises:
    OSError: The file cannot be read.
    FormatError: The file has no counted rules, is damaged, or has another format version.)")
      .def_prop_ro("statistics", &CountsFile::statistics, "Statistics of the extraction.")
      .def("save_words", &CountsFile::save_words, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           R"(Writes a file of the same word translation counts without any rules.

Args:
    path: The file, written in full or not at all.

Raises:
    OSError: The file cannot be written.)")
      .def("visit", &visit_rules, nb::arg("visit"), R"(Calls a function for every rule.

Args:
    visit: Called with the source tokens and target tokens as in rule text, the (source, target)
        positions of the most frequent alignment, the sum of the rule's shares of initial phrase
        pairs, and its number of occurrences.

Raises:
    FormatError: The file is damaged.)");
}

}  // namespace

void register_extract(nb::module_& m) {
  register_options<ExtractOptions>(m, "ExtractOptions", "Options of rule extraction.");
  register_options<ScoreOptions>(
      m, "ScoreOptions", "Options of rule scoring: which rules stay, and smoothing of probabilities.");
  register_statistics(m);
  register_counts(m);
  m.def("extract", &extract_from_files, nb::arg("source"), nb::arg("target"), nb::arg("links"),
        nb::arg("output"), nb::arg("options"), nb::arg("memory"), nb::arg("threads"),
        nb::arg("progress").none(),
        R"(Extracts rules from word-aligned text and counts them (Chiang 2007, section 3).

Args:
    source: Binary file of source sentences, and its name in error messages.
    target: Binary file of target sentences, and its name.
    links: Binary file of word alignments (0-0 1-2 ...), and its name.
    output: File of counted rules, written in full or not at all.
    options: Options.
    memory: Bytes for sorting.
    threads: Number of threads, which changes nothing but the time.
    progress: Called with the numbers of sentence pairs and of rule occurrences from time to time.

Raises:
    FormatError: A line is malformed, or the files have different lengths.
    OSError: A file cannot be read or written.)");
  m.def("score", &score_counts, nb::arg("counts"), nb::arg("output"), nb::arg("options"), nb::arg("bitext"),
        nb::arg("least_significance"), nb::arg("threads"), nb::arg("progress").none(),
        R"(Computes the features of counted rules and packs a rule table.

Args:
    counts: The counted rules.
    output: The table file, written in full or not at all.
    options: Options.
    bitext: Binary files of the source and target sentences that the rules come from, each with its
        name in error messages: rules stay if their -log p by Fisher's exact test (Johnson et al. 2007)
        is larger than least_significance. None: no test.
    least_significance: Limit of the test.
    threads: Number of threads, which changes nothing but the time.
    progress: Called with the number of rules read from time to time.

Raises:
    FormatError: The counts are damaged, no rule is left, or the bitext is another one.
    OSError: A file cannot be read or written.)");
  m.def(
      "fisher_minus_log_p",
      [](std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t pairs) {
        if (both > std::min(source, target) || std::max(source, target) > pairs)
          throw std::invalid_argument("more pairs with both sides than with one, or with one than there are");
        return fisher_minus_log_p(both, source, target, pairs, LogFactorials(pairs));
      },
      nb::arg("both"), nb::arg("source"), nb::arg("target"), nb::arg("pairs"),
      R"(Returns -log p of Fisher's exact test (Johnson et al. 2007).

p is the probability that two things which `source` and `target` of `pairs` sentence pairs have occur
together in `both` or more of them by chance.

Args:
    both: Number of sentence pairs with both things.
    source: Number of sentence pairs with the first one.
    target: Number of sentence pairs with the second one.
    pairs: Number of all sentence pairs.

Returns:
    Natural log.)");
}

}  // namespace hiero
