// Digests of many items, and for each the first item with the same digest, in about 24 bytes an item.
//
// Digests have 128 bits, so that different items practically never have the same one; they are to be those of
// a good hash function, as a part of them is the place in a table.
//
// How to use: DigestIndex index; index.add(digest) is the number of the item if its digest is new, and else
// that of the first item with this digest; index.first(item) tells it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiero/base/growing_array.h"

namespace hiero {

class DigestIndex {
 public:
  using Digest = std::array<std::uint64_t, 2>;

  // Appends an item, and returns the first item with the same digest. Throws std::length_error for more items
  // than 32 bits can count.
  std::size_t add(const Digest& digest);
  // Returns the first item with the same digest as this one.
  std::size_t first(std::size_t item) const { return slots_[find(digests_.data()[item])]; }
  const Digest& digest(std::size_t item) const { return digests_.data()[item]; }
  // Tells whether a later item has the same digest as this one, which is the first with it.
  bool is_repeated(std::size_t item) const { return repeated_[item]; }
  std::size_t size() const { return digests_.size(); }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  // Returns the slot of a digest, or the empty one for it.
  std::size_t find(const Digest& digest) const;
  void grow();

  GrowingArray<Digest> digests_;
  std::vector<bool> repeated_;
  // First items of digests: a hash table with linear probing.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kEmpty);
  std::size_t used_ = 0;  // slots that are not empty
};

}  // namespace hiero
