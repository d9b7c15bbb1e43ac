// An external merge sort (Knuth, The Art of Computer Programming 3, section 5.4) of byte records by key, in
// bounded memory. Records that do not fit in memory are written to sorted runs on disk, which are merged when
// they are read back. Many runs are merged in groups of 128 first, so that a record is written
// O(log(number of runs)) times.
//
// How to use:
//   1. RecordSorter sorter(memory, folder);
//   2. sorter.add(key, value);              // every record
//   3. sorter.finish();
//   4. sorter.scan(visit);                  // as often as needed, in the order of keys
// Records with equal keys come in the order in which they were added, or as one record if the sorter has a
// function that combines their values; those in memory are then found by a hash table, and need no place. The
// result does not depend on the memory. The folder must be on a file system with room for all records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiero/base/growing_array.h"
#include "hiero/base/record.h"
#include "hiero/base/sorted_run.h"

namespace hiero {

class RecordSorter {
 public:
  // Adds `value` to the value `sum` of an equal key; both have the same size.
  using Combine = void (*)(std::span<std::byte> sum, Bytes value);
  // Receives a record, whose spans are valid until the call returns.
  using Visit = std::function<void(Bytes key, Bytes value)>;

  // `memory` is in bytes. Runs are in `file`, or in one of the sorter's own in `folder`.
  RecordSorter(std::uint64_t memory, std::shared_ptr<RunFile> file, Combine combine = nullptr);
  RecordSorter(std::uint64_t memory, const std::string& folder, Combine combine = nullptr);
  ~RecordSorter();
  RecordSorter(RecordSorter&&) noexcept;

  // Keys are ordered by memcmp; a key comes before longer keys that it begins. Throws FileError.
  void add(Bytes key, Bytes value);
  // Adds encoded records, faster than one by one if values are combined.
  void add(Bytes records);
  void finish();
  void scan(const Visit& visit) const;
  // Frees memory and runs. Nothing can be scanned afterwards.
  void release();
  // Returns the number of records that were added.
  std::uint64_t size() const { return count_; }

 private:
  struct Entry {
    std::uint64_t prefix;  // the first eight bytes of the key, most significant first
    std::uint64_t offset;  // into buffer_
  };
  class Combiner;

  // The place of a record in buffer_ + 1, or 0, and the upper bits of the hash of its key.
  struct Slot {
    std::uint64_t place : 40 = 0;
    std::uint64_t hash : 24 = 0;
  };

  void add(const Record& record, Bytes encoded, std::uint64_t hash);
  bool combine_with_equal(std::uint64_t hash, const Record& record);
  void add_slot(std::uint64_t hash);
  void clear_slots(std::size_t size);
  bool before(const Entry& a, const Entry& b) const;
  void sort();
  void spill();
  void merge_tail();
  void scan_buffer(const Visit& visit) const;
  void scan_runs(std::size_t first, const Visit& visit) const;

  std::uint64_t memory_;
  std::shared_ptr<RunFile> file_;
  Combine combine_;
  GrowingArray<std::byte> buffer_;
  GrowingArray<Entry> entries_;
  GrowingArray<Slot> slots_;       // of all entries if there is a function that combines: open addressing
  std::vector<std::byte> record_;  // the record that is being added, encoded
  std::vector<std::pair<Record, std::uint64_t>> batch_;  // records that are being added, with their hashes
  bool in_order_ = true;                                 // whether the entries were added in sorted order
  std::vector<std::unique_ptr<SortedRun>> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace hiero
