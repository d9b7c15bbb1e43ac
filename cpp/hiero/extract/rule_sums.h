// The steps of extraction behind the occurrences of rules (occurrences.h): sums of each rule, which are found
// by target side, and then the rules in order of their source sides.
//
// Both steps go from part to part, on several threads. The parts are those of a sorter in this process, or
// come from files that other processes wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hiero/base/partitioned_sorter.h"
#include "hiero/base/parts_file.h"
#include "hiero/extract/counts_file.h"

namespace hiero {

// The parts of target sides, by their hash, and at most of source sides, by order. Threads go on with
// different parts; and the first part of target sides is a sample of all rules.
inline constexpr std::size_t kRuleParts = 256;

// Parts of source sides in order, about equally many rules in each.
class SourceParts {
 public:
  // `firsts` has the first source side of each part but the first one, in order.
  explicit SourceParts(std::vector<std::string> firsts) : firsts_(std::move(firsts)) {}

  const std::vector<std::string>& firsts() const { return firsts_; }
  std::size_t size() const { return firsts_.size() + 1; }
  std::size_t part_of(Bytes source) const;

 private:
  std::vector<std::string> firsts_;
};

// Neighbouring parts: the first, and the one behind the last.
using PartRange = std::pair<std::size_t, std::size_t>;
// Returns the sorter of a part, which is finished. Several threads ask for different parts at once.
using LoadPart = std::function<RecordSorter(std::size_t part)>;

// Gives away the sorters of parts.
LoadPart finished(PartitionedSorter& parts);

// Divides source sides by those of the first part of target sides, which are a sample of all rules.
SourceParts divide_sources(const RecordSorter& first_part);

// Sums the occurrences of parts by target side, and adds the rules to parts by source side. Calls `poll` now
// and then on the calling thread, which may throw to stop the work. Throws Error as sum_of_shares().
void sum_rules(const PartRange& parts, const LoadPart& load, const SourceParts& sources,
               PartitionedSorter& by_source, std::size_t threads, const std::function<void()>& poll);

// Writes the parts by source side, in order, and adds the numbers of rules to the statistics. Calls `poll` as
// sum_rules() does.
void write_counts(const PartRange& parts, const LoadPart& load, std::size_t threads, PartsWriter& out,
                  ExtractStatistics& statistics, const std::function<void()>& poll);

}  // namespace hiero
