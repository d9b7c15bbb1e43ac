#include "hiero/base/partitioned_sorter.h"

#include <memory>

#include "hiero/base/record.h"

namespace hiero {

PartitionedSorter::PartitionedSorter(std::size_t parts, std::uint64_t memory, const std::string& folder,
                                     RecordSorter::Combine combine)
    : locks_(parts) {
  const auto file = std::make_shared<RunFile>(folder);
  sorters_.reserve(parts);
  for (std::size_t part = 0; part < parts; ++part) sorters_.emplace_back(memory / parts, file, combine);
}

void PartitionedSorter::Writer::add(std::size_t part, Bytes key, Bytes value) {
  put_record(staged_[part], key, value);
  if (staged_[part].size() >= kStagedBytes) sorters_.add_staged(part, staged_[part]);
}

void PartitionedSorter::Writer::flush() {
  for (std::size_t part = 0; part < staged_.size(); ++part) sorters_.add_staged(part, staged_[part]);
}

void PartitionedSorter::add_staged(std::size_t part, std::vector<std::byte>& staged) {
  const std::lock_guard lock(locks_[part]);
  sorters_[part].add(staged);
  staged.clear();
}

}  // namespace hiero
