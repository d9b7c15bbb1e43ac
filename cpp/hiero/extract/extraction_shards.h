// Extraction by several processes, which may run on different machines that share files. The counts are the
// same, byte for byte, as those of extract_rules().
//
// How to use, where one process merges the shards:
//   1. extract_shard(source, target, links, "shard.0", options, key, {0, 8}, memory, threads, progress); ...
//   2. merge_shards({"shard.0", ...}, "rules.counts", memory, threads);
// Where several processes do:
//   2. const SourceParts sources = divide_sources({"shard.0", ...}, memory, folder);
//   3. sum_shard({"shard.0", ...}, sources, "sums.0", {0, 4}, memory, threads); ...
//   4. code_shard({"sums.0", ...}, "coded.0", {0, 4}, memory, threads); ...
//   5. join_shards({"shard.0", ...}, {"coded.0", ...}, "rules.counts");
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hiero/base/line_reader.h"
#include "hiero/base/parts_file.h"
#include "hiero/base/shard.h"
#include "hiero/base/shard_files.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/rule_sums.h"

namespace hiero {

// A file of the occurrences of a shard: 256 parts by target side, each of sorted records (record.h), and a
// head: that of a shard (shard_files.h), and a CountsHead without numbers of rules.
inline constexpr PartsKind kOccurrences{
    {'H', 'I', 'E', 'R', 'O', 'O', 'C', '\n'}, 1, "a shard of rule occurrences", "extract it again"};
// A file of sums, which have a part for each of source sides, also of sorted records.
inline constexpr PartsKind kRuleSums{
    {'H', 'I', 'E', 'R', 'O', 'R', 'S', '\n'}, 1, "sums of rules", "extract again"};

// Writes the occurrences of a shard of pairs. `key` is any text that says with which options: shards are
// merged if they have the same. Returns the statistics of the shard. Throws as extract_rules() does.
ExtractStatistics extract_shard(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                const std::string& key, const Shard& shard, std::uint64_t memory,
                                std::size_t threads, const ExtractProgress& progress);

// The files of all shards of a bitext, in any order.
class ExtractedShards {
 public:
  // Opens the files. Throws FileError, and FormatError for damaged ones and unless there is one of each shard
  // of the same bitext, with the same key.
  explicit ExtractedShards(std::span<const std::string> paths);

  // Returns the sorter of a part by target side of all shards. It throws FormatError for damaged ones.
  LoadPart loader(std::uint64_t memory, const std::string& folder) const;
  // Returns the sum of all heads.
  CountsHead head() const;

 private:
  ShardFiles files_;
};

// These functions throw FileError, and FormatError for damaged files. Outputs are written in full or not at
// all.

// Writes the counts of all shards.
ExtractStatistics merge_shards(const ExtractedShards& shards, const std::string& output, std::uint64_t memory,
                               std::size_t threads);

// Divides source sides by a sample of all rules. What does not fit into memory lies in a file in `folder`.
SourceParts divide_sources(const ExtractedShards& shards, std::uint64_t memory, const std::string& folder);
// Writes the sums of a share of target sides, in parts by source side.
void sum_shard(const ExtractedShards& shards, const SourceParts& sources, const std::string& output,
               const Shard& shard, std::uint64_t memory, std::size_t threads);
// Writes the rules of a share of source sides, from all sums, as they are in a file of counts.
void code_shard(std::span<const std::string> sums, const std::string& output, const Shard& shard,
                std::uint64_t memory, std::size_t threads);
// Writes the counts from all coded rules, whose files are given in order.
ExtractStatistics join_shards(const ExtractedShards& shards, std::span<const std::string> coded,
                              const std::string& output);

}  // namespace hiero
