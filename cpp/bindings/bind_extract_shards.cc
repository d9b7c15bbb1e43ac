// Extraction and scoring by several processes.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind_extract.h"
#include "bind_settings.h"
#include "hiero/base/output_file.h"
#include "hiero/extract/extraction_shards.h"
#include "hiero/extract/scoring_shards.h"

namespace hiero {
namespace {

using Paths = std::vector<std::string>;

ExtractStatistics extract_shard_of_files(const NamedFile& source, const NamedFile& target,
                                         const NamedFile& links, const std::string& output,
                                         const ExtractOptions& options, const std::string& key,
                                         const std::pair<std::size_t, std::size_t>& numbers,
                                         std::uint64_t memory, int threads, const Counters& progress) {
  const Shard shard = shard_of(numbers);
  AlignedLines lines(source, target, links);
  const ExtractProgress report = report_to(progress);
  const nb::gil_scoped_release release;
  return extract_shard(lines.source.reader(), lines.target.reader(), lines.links.reader(), output, options,
                       key, shard, memory, thread_count(threads), report);
}

ExtractStatistics merge_extracted(const Paths& shards, const std::string& output, std::uint64_t memory,
                                  int threads) {
  const std::size_t workers = thread_count(threads);
  const nb::gil_scoped_release release;
  return merge_shards(ExtractedShards(shards), output, memory, workers);
}

std::vector<nb::bytes> divide_extracted(const Paths& shards, const std::string& folder,
                                        std::uint64_t memory) {
  std::vector<std::string> firsts;
  {
    const nb::gil_scoped_release release;
    firsts = divide_sources(ExtractedShards(shards), memory, folder).firsts();
  }
  std::vector<nb::bytes> out;
  for (const std::string& first : firsts) out.emplace_back(first.data(), first.size());
  return out;
}

void sum_extracted(const Paths& shards, const std::vector<nb::bytes>& firsts, const std::string& output,
                   const std::pair<std::size_t, std::size_t>& numbers, std::uint64_t memory, int threads) {
  const Shard shard = shard_of(numbers);
  const std::size_t workers = thread_count(threads);
  std::vector<std::string> sides;
  for (const nb::bytes& first : firsts) sides.emplace_back(first.c_str(), first.size());
  if (!std::ranges::is_sorted(sides)) throw std::invalid_argument("firsts: expected them in order");
  const nb::gil_scoped_release release;
  sum_shard(ExtractedShards(shards), SourceParts(std::move(sides)), output, shard, memory, workers);
}

void code_extracted(const Paths& sums, const std::string& output,
                    const std::pair<std::size_t, std::size_t>& numbers, std::uint64_t memory, int threads) {
  const Shard shard = shard_of(numbers);
  const std::size_t workers = thread_count(threads);
  const nb::gil_scoped_release release;
  code_shard(sums, output, shard, memory, workers);
}

ExtractStatistics join_extracted(const Paths& shards, const Paths& coded, const std::string& output) {
  const nb::gil_scoped_release release;
  return join_shards(ExtractedShards(shards), coded, output);
}

ScoreStatistics score_shard_of_counts(const CountsFile& counts, const std::string& output,
                                      const ScoreOptions& options, const std::string& key,
                                      const BitextFiles& bitext, double least_significance,
                                      const std::pair<std::size_t, std::size_t>& numbers, int threads,
                                      const Counter& progress) {
  const Shard shard = shard_of(numbers);
  const ScoreProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  TestedBitext tested(bitext);
  const nb::gil_scoped_release release;
  return score_shard(counts, output, options, key, tested.read(counts), least_significance, shard,
                     thread_count(threads), report);
}

ScoreStatistics merge_scored_shards(const Paths& shards, const std::string& output) {
  const nb::gil_scoped_release release;
  return merge_scored(shards, output);
}

void register_scoring_shards(nb::module_& m) {
  m.attr("SCORED_SHARD") = nb::bytes(kScoredRules.magic.data(), kScoredRules.magic.size());
  m.def("score_shard", &score_shard_of_counts, nb::arg("counts"), nb::arg("output"), nb::arg("options"),
        nb::arg("key"), nb::arg("bitext"), nb::arg("least_significance"), nb::arg("shard"),
        nb::arg("threads"), nb::arg("progress").none(),
        R"(Scores a shard of counted rules, for merge_scored.

Args:
    counts: The counted rules.
    output: File of those rules that are kept, written in full or not at all.
    options: Options.
    key: Text that says with which options: only shards with the same are merged.
    bitext: As for score.
    least_significance: As for score.
    shard: Its number, from 0, and the number of shards.
    threads: Number of threads, which changes nothing but the time.
    progress: Called with the number of rules read from time to time.

Raises:
    FormatError: The counts are damaged, or the bitext is another one.
    OSError: A file cannot be read or written.
    ValueError: There is no such shard.)");
  m.def("merge_scored", &merge_scored_shards, nb::arg("shards"), nb::arg("output"),
        R"(Packs a rule table from all shards of scored rules, the same as score does.

Args:
    shards: Files from score_shard, in any order.
    output: The table file, written in full or not at all.

Raises:
    FormatError: A file is damaged, they do not belong together, one is missing, or no rule is left.
    OSError: A file cannot be read or written.)");
}

}  // namespace

void register_extract_shards(nb::module_& m) {
  m.attr("EXTRACTED_SHARD") = nb::bytes(kOccurrences.magic.data(), kOccurrences.magic.size());
  m.def("extract_shard", &extract_shard_of_files, nb::arg("source"), nb::arg("target"), nb::arg("links"),
        nb::arg("output"), nb::arg("options"), nb::arg("key"), nb::arg("shard"), nb::arg("memory"),
        nb::arg("threads"), nb::arg("progress").none(),
        R"(Extracts the rules of a shard of the sentence pairs, for merge_extracted.

Args:
    source: Binary file of source sentences, and its name in error messages.
    target: Binary file of target sentences, and its name.
    links: Binary file of word alignments (0-0 1-2 ...), and its name.
    output: File of rule occurrences, written in full or not at all.
    options: Options.
    key: Text that says with which options: only shards with the same are merged.
    shard: Its number, from 0, and the number of shards.
    memory: Bytes for sorting.
    threads: Number of threads, which changes nothing but the time.
    progress: Called with the numbers of sentence pairs and of rule occurrences from time to time.

Raises:
    FormatError: A line is malformed, or the files have different lengths.
    OSError: A file cannot be read or written.
    ValueError: There is no such shard.)");
  m.def("merge_extracted", &merge_extracted, nb::arg("shards"), nb::arg("output"), nb::arg("memory"),
        nb::arg("threads"), R"(Counts the rules of all shards. The file is the same as that of extract.

Args:
    shards: Files from extract_shard, in any order.
    output: File of counted rules, written in full or not at all.
    memory: Bytes for sorting.
    threads: Number of threads, which changes nothing but the time.

Raises:
    FormatError: A file is damaged, they do not belong together, or one is missing.
    OSError: A file cannot be read or written.)");
  m.def("divide_extracted", &divide_extracted, nb::arg("shards"), nb::arg("folder"), nb::arg("memory"),
        R"(Divides the source sides of rules into parts with about equally many rules.

Args:
    shards: Files from extract_shard.
    folder: Folder for what does not fit into memory.
    memory: Bytes for sorting.

Returns:
    The first source side of each part but the first one, for sum_extracted.)");
  m.def("sum_extracted", &sum_extracted, nb::arg("shards"), nb::arg("firsts"), nb::arg("output"),
        nb::arg("shard"), nb::arg("memory"), nb::arg("threads"),
        R"(Sums a share of the rules of all shards.

Args:
    shards: Files from extract_shard.
    firsts: What divide_extracted returned.
    output: File of sums, for code_extracted.
    shard: Number of the share of target sides, from 0, and the number of shares.
    memory: Bytes for sorting.
    threads: Number of threads.)");
  m.def("code_extracted", &code_extracted, nb::arg("sums"), nb::arg("output"), nb::arg("shard"),
        nb::arg("memory"), nb::arg("threads"), R"(Sorts a share of the sums.

Args:
    sums: All files from sum_extracted.
    output: File for join_extracted.
    shard: Number of the share of source sides, from 0, and the number of shares.
    memory: Bytes for sorting.
    threads: Number of threads.)");
  m.def("join_extracted", &join_extracted, nb::arg("shards"), nb::arg("coded"), nb::arg("output"),
        R"(Joins what other functions made of all shards. The file is the same as that of extract.

Args:
    shards: Files from extract_shard.
    coded: All files from code_extracted, in order.
    output: File of counted rules, written in full or not at all.)");
  register_scoring_shards(m);
}

}  // namespace hiero
