// A checksum per block of a file. Each block is verified when it is first read, so that a large file can be
// mapped without reading all of it.
//
// How to use:
//   1. To write: block_sums(bytes) returns the checksums to store.
//   2. To read: CheckedBlocks blocks(bytes, sums, name);
//   3. blocks.touch(offset, size) before every access to these bytes.
// touch() may be called by several threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"

namespace hiero {

inline constexpr std::size_t kBlockSize = std::size_t{1} << 16;

inline constexpr std::uint64_t block_count(std::uint64_t bytes) {
  return (bytes + kBlockSize - 1) / kBlockSize;
}

inline std::vector<std::uint64_t> block_sums(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> sums;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kBlockSize)
    sums.push_back(checksum(bytes.data() + begin, std::min(kBlockSize, bytes.size() - begin)));
  return sums;
}

class CheckedBlocks {
 public:
  CheckedBlocks() = default;
  // `sums` points to one checksum per block and may be unaligned. `bytes` and `sums` must outlive this
  // object. Error messages begin with `name`.
  CheckedBlocks(std::span<const std::byte> bytes, const std::byte* sums, std::string name)
      : bytes_(bytes),
        sums_(sums),
        name_(std::move(name)),
        verified_((block_count(bytes.size()) + 63) / 64) {}

  // Verifies the blocks that hold bytes [offset, offset + size), which must be within bounds. Throws
  // FormatError for a damaged block.
  void touch(std::uint64_t offset, std::uint64_t size) const {
    if (size == 0) return;
    const std::uint64_t last = (offset + size - 1) / kBlockSize;
    for (std::uint64_t block = offset / kBlockSize; block <= last; ++block) {
      if (!(verified_[block / 64].load(std::memory_order_acquire) >> (block % 64) & 1)) verify(block);
    }
  }

 private:
  void verify(std::uint64_t block) const {
    std::uint64_t expected;
    std::memcpy(&expected, sums_ + block * sizeof expected, sizeof expected);
    const std::uint64_t start = block * kBlockSize;
    const std::uint64_t size = std::min<std::uint64_t>(kBlockSize, bytes_.size() - start);
    if (checksum(bytes_.data() + start, size) != expected)
      throw FormatError(name_ + ": wrong checksum of block " + std::to_string(block));
    verified_[block / 64].fetch_or(std::uint64_t{1} << (block % 64), std::memory_order_release);
  }

  std::span<const std::byte> bytes_;
  const std::byte* sums_ = nullptr;
  std::string name_;
  mutable std::vector<std::atomic<std::uint64_t>> verified_;  // one bit per block
};

}  // namespace hiero
