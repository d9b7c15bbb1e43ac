#include "hiero/extract/extraction.h"

#include <utility>
#include <vector>

#include "hiero/base/error.h"
#include "hiero/base/output_file.h"
#include "hiero/extract/occurrences.h"
#include "hiero/extract/rule_sums.h"

namespace hiero {
ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, std::size_t threads, const ExtractProgress& progress) {
  PartsWriter out(output, kRuleCounts);  // first, so that an unwritable folder is an error before any work
  const std::string folder = folder_of(output);
  CountsHead head;
  AlignedPairReader reader(source, target, links, head.words);
  Occurrences occurrences(folder, memory);
  occurrences.extract(reader, options, {}, threads, progress);
  head.statistics = occurrences.statistics();
  const auto poll = [&] { progress(head.statistics.pairs, head.statistics.occurrences); };
  if (head.statistics.pairs == 0) throw FormatError(source.name() + ": no sentence pairs");
  PartitionedSorter& by_target = occurrences.by_target();
  by_target[0].finish();
  const SourceParts sources = divide_sources(by_target[0]);
  PartitionedSorter by_source(sources.size(), memory / 2, folder);
  sum_rules({0, kRuleParts}, finished(by_target), sources, by_source, threads, poll);
  write_counts({0, sources.size()}, finished(by_source), threads, out, head.statistics, poll);
  head.lexicon = occurrences.take_lexicon();
  out.commit(encode_head(head));
  return head.statistics;
}

}  // namespace hiero
