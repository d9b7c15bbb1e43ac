// Sorts byte records by key in bounded memory: what does not fit is written to sorted runs on disk, which
// are merged when read back; of many runs, groups that were merged equally often are merged before, so that a
// record is written again as often as the logarithm of their number. Records of equal keys come in the order
// in which they were added, or, given a way to combine their values, as one. The result does not depend on
// the memory.
//
// How to use: add() every record; finish(); then scan() as often as needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/growing_array.h"

namespace hiero {

using Bytes = std::span<const std::byte>;

class RecordSorter {
 public:
  // Takes `value` into the value `into` of an equal key; both are of the same size.
  using Combine = void (*)(std::span<std::byte> into, Bytes value);
  // The spans hold until the visit ends.
  using Visit = std::function<void(Bytes key, Bytes value)>;

  // `memory` counts bytes. Run files go to `folder`, unnamed, so that they vanish with the process.
  RecordSorter(std::uint64_t memory, std::string folder, Combine combine = nullptr);
  ~RecordSorter();

  // Keys are ordered by memcmp, a prefix first. Throws FileError.
  void add(Bytes key, Bytes value);
  void finish();
  void scan(const Visit& visit) const;
  // Lets go of memory and run files; there is nothing left to scan.
  void release();
  // Records added.
  std::uint64_t size() const { return count_; }

 private:
  struct Entry {
    std::uint64_t prefix;  // the first eight bytes of the key, most significant first
    std::uint64_t offset;  // into buffer_
  };
  class Run;
  class Combiner;

  bool before(const Entry& a, const Entry& b) const;
  void sort();
  void spill();
  void merge_tail();
  void scan_buffer(const Visit& visit) const;
  void scan_runs(std::size_t first, const Visit& visit) const;

  std::uint64_t memory_;
  std::string folder_;
  Combine combine_;
  GrowingArray<std::byte> buffer_;
  GrowingArray<Entry> entries_;
  std::vector<std::byte> record_;  // being added
  bool in_order_ = true;           // entries_ came sorted
  std::vector<std::unique_ptr<Run>> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace hiero
