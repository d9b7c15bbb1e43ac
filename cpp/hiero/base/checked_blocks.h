// Bytes of a file in blocks that have checksums of their own, each verified when it is touched for the first
// time: a large file is mapped at once, and damage is found where it is read.
//
// How to use: block_sums(bytes) to write; CheckedBlocks(bytes, sums, name) to read; touch(offset, size)
// before every access. All const calls may run on several threads.
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
  for (std::size_t at = 0; at < bytes.size(); at += kBlockSize)
    sums.push_back(checksum(bytes.data() + at, std::min(kBlockSize, bytes.size() - at)));
  return sums;
}

class CheckedBlocks {
 public:
  CheckedBlocks() = default;
  // `sums`: a checksum a block, anywhere in memory; both must outlive this. `name`: what messages begin with.
  CheckedBlocks(std::span<const std::byte> bytes, const std::byte* sums, std::string name)
      : bytes_(bytes),
        sums_(sums),
        name_(std::move(name)),
        verified_((block_count(bytes.size()) + 63) / 64) {}

  // Throws FormatError if a block of these bytes, which must be within bounds, is damaged.
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
  mutable std::vector<std::atomic<std::uint64_t>> verified_;  // a bit a block
};

}  // namespace hiero
