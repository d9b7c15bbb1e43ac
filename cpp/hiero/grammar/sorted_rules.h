// Rules as compact records, sorted by source side, left-hand label and order of arrival, in bounded
// memory (see base/record_sorter.h).
//
// How to use: add() every rule; finish(); then scan() as often as needed.
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

// One rule in table-wide numbering. The spans of a record read back hold until the next one.
struct RuleRow {
  std::span<const Symbol> source;
  LabelId lhs;
  std::span<const SparseFeature> features;  // all of them, feature ids in order of first occurrence
  std::span<const std::byte> body;          // flags, target and links as packed (see packed_format.h)
};

class SortedRules {
 public:
  SortedRules(std::uint64_t memory, std::string folder) : sorter_(memory, std::move(folder)) {}

  void add(const RuleRow& row);
  void finish() { sorter_.finish(); }
  void scan(const std::function<void(const RuleRow&)>& visit) const;
  // scan() as a function, for write_table().
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
