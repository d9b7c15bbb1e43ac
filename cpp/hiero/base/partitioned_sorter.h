// Sorters of the parts of a set of records, to which several threads add. Each part is small, so that its
// hash table and its sort stay in the processor's caches, and several threads can go on with different parts.
//
// How to use:
//   1. PartitionedSorter sorters(256, memory, folder, combine);
//   2. PartitionedSorter::Writer writer(sorters);             // one for each thread
//   3. writer.add(part, key, value); ...; writer.flush();
//   4. sorters[part].finish(); sorters[part].scan(visit);     // record_sorter.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "hiero/base/record_sorter.h"

namespace hiero {

class PartitionedSorter {
 public:
  // Adds records to the parts, many at a time.
  class Writer {
   public:
    explicit Writer(PartitionedSorter& sorters) : sorters_(sorters), staged_(sorters.size()) {}

    void add(std::size_t part, Bytes key, Bytes value);
    // Call it after the last record.
    void flush();

   private:
    static constexpr std::size_t kStagedBytes = 4096;  // of each part

    PartitionedSorter& sorters_;
    std::vector<std::vector<std::byte>> staged_;
  };

  // All parts together take this much memory.
  PartitionedSorter(std::size_t parts, std::uint64_t memory, const std::string& folder,
                    RecordSorter::Combine combine = nullptr);

  std::size_t size() const { return sorters_.size(); }
  RecordSorter& operator[](std::size_t part) { return sorters_[part]; }

 private:
  void add_staged(std::size_t part, std::vector<std::byte>& staged);

  std::vector<RecordSorter> sorters_;
  std::vector<std::mutex> locks_;  // of each sorter
};

}  // namespace hiero
