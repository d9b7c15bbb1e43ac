// The first step of extraction: the rule occurrences of a bitext, or of a shard of it, counted by target
// side, source side and alignment.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hiero/base/partitioned_sorter.h"
#include "hiero/base/shard.h"
#include "hiero/extract/aligned_pair.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/options.h"

namespace hiero {

class Occurrences {
 public:
  // What does not fit into half of the memory, in bytes, lies in a file in `folder`.
  Occurrences(const std::string& folder, std::uint64_t memory);

  // Adds those of the shard's pairs, by any number of threads. All pairs are read, so that words have the
  // same numbers in every shard; `text_sum` gets a checksum of these numbers and of the links. Throws what
  // extract_rules() throws.
  void extract(AlignedPairReader& reader, const ExtractOptions& options, const Shard& shard,
               std::size_t threads, const ExtractProgress& progress, std::uint64_t* text_sum = nullptr);

  // Has kRuleParts parts, whose keys are those of RuleExtractor and whose values are RuleCounts.
  PartitionedSorter& by_target() { return by_target_; }
  Lexicon take_lexicon() { return std::move(lexicon_); }
  // All but the number of rules, of the shard.
  const ExtractStatistics& statistics() const { return statistics_; }
  // Returns the number of pairs of all shards.
  std::uint64_t all_pairs() const { return all_pairs_; }

 private:
  PartitionedSorter by_target_;
  Lexicon lexicon_;
  ExtractStatistics statistics_;
  std::uint64_t all_pairs_ = 0;
};

}  // namespace hiero
