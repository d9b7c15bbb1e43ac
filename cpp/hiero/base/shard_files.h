// The head of files of shards that are to be merged, and the test that they belong together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/cursor.h"
#include "hiero/base/parts_file.h"
#include "hiero/base/shard.h"

namespace hiero {

// What all shards of a piece of work have in common.
struct ShardKey {
  std::string settings;     // any text
  std::uint64_t input = 0;  // a checksum of what they were made from

  bool operator==(const ShardKey&) const = default;
};

// Returns the head of a file of a shard, to which more may be appended.
std::vector<std::byte> shard_head(const Shard& shard, const ShardKey& key);

// The files of all shards of a piece of work, in order.
class ShardFiles {
 public:
  // Opens the files, which are given in any order. Throws FileError, and FormatError for damaged ones and
  // unless there is one of each shard with the same key.
  ShardFiles(std::span<const std::string> paths, const PartsKind& kind);

  std::size_t size() const { return files_.size(); }
  const PartsFile& operator[](std::size_t shard) const { return *files_[shard]; }
  // Returns what was appended to the head of a file.
  Cursor rest_of_head(std::size_t shard) const;

 private:
  std::vector<std::unique_ptr<PartsFile>> files_;
};

}  // namespace hiero
