// Rules as compact records, sorted by source side, left-hand label and order of arrival, in bounded
// memory: what does not fit is written to sorted run files and merged when read back. The order, and so
// all that is made from it, does not depend on the memory budget.
//
// How to use: add() every rule; finish(); then scan() as often as needed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  // Run files go to `folder`, unnamed, so that they vanish with the process.
  SortedRules(std::uint64_t memory, std::string folder);
  ~SortedRules();

  void add(const RuleRow& row);
  void finish();
  void scan(const std::function<void(const RuleRow&)>& visit) const;
  std::uint64_t size() const { return count_; }

 private:
  struct Key {
    std::uint64_t prefix;  // the first two source symbols
    std::uint64_t offset;  // into buffer_
  };
  struct Run;

  bool before(const Key& a, const Key& b) const;
  void sort();
  void spill();
  void scan_memory(const std::function<void(const RuleRow&)>& visit) const;
  void scan_runs(const std::function<void(const RuleRow&)>& visit) const;

  std::uint64_t memory_;
  std::string folder_;
  std::vector<std::uint32_t> buffer_;  // records as 32-bit words
  std::vector<Key> keys_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace hiero
