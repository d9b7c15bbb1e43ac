// Sorts rules by source side, then by left-hand label, then by the order in which they were added, in bounded
// memory (base/record_sorter.h).
//
// How to use:
//   1. SortedRules sorted(memory, folder);
//   2. sorted.add(row);                        // every rule
//   3. sorted.finish();
//   4. sorted.scan(visit);                     // as often as needed
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/record_sorter.h"
#include "hiero/base/symbol.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

// A rule with the ids of a table. In a scan its spans are valid until the next rule.
struct RuleRow {
  std::span<const Symbol> source;
  LabelId lhs;
  std::span<const SparseFeature> features;  // dense and sparse ones; ids in order of first occurrence
  std::span<const std::byte> body;          // reordering flags, target side and links (rule_body.h)
};

class SortedRules {
 public:
  SortedRules(std::uint64_t memory, std::string folder) : sorter_(memory, std::move(folder)) {}

  void add(const RuleRow& row);
  void finish() { sorter_.finish(); }
  void scan(const std::function<void(const RuleRow&)>& visit) const;
  // Returns scan() as a function, for write_table(). This object must outlive it.
  auto scanner() const {
    return [this](const std::function<void(const RuleRow&)>& visit) { scan(visit); };
  }
  std::uint64_t size() const { return sorter_.size(); }

 private:
  RecordSorter sorter_;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
};

}  // namespace hiero
