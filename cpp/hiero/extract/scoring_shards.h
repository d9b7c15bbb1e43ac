// Scoring of rules by several processes, which may run on different machines that share files. The table is
// the same, byte for byte, as that of score_rules().
//
// How to use:
//   1. score_shard(counts, "rows.0", options, key, bitext, least_significance, {0, 8}, threads, progress);
//   ...
//   2. merge_scored({"rows.0", ...}, "rules.hrt");
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hiero/base/parts_file.h"
#include "hiero/base/shard.h"
#include "hiero/extract/scoring.h"

namespace hiero {

// A file of the scored rules of a shard, in any number of parts: records (record.h) of source symbols
// (symbol_code.h), and of as many floats as there are scores and the body of a rule.
inline constexpr PartsKind kScoredRules{
    {'H', 'I', 'E', 'R', 'O', 'S', 'C', '\n'}, 1, "a shard of scored rules", "score it again"};

// Writes those rules of a shard of the counts that are kept. `key` is any text that says with which options:
// shards are merged if they have the same. Throws as score_rules() does, but not for a shard without rules.
ScoreStatistics score_shard(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            const std::string& key, IndexedBitext* bitext, double least_significance,
                            const Shard& shard, std::size_t threads, const ScoreProgress& progress);

// Writes the table of all shards, which are in any order. Throws FileError, and FormatError for damaged
// shards, unless there is one of each of the same counts with the same key, and for a table without rules.
ScoreStatistics merge_scored(std::span<const std::string> shards, const std::string& output);

}  // namespace hiero
