#include "hiero/base/digest_index.h"

#include <stdexcept>

namespace hiero {

std::size_t DigestIndex::add(const Digest& digest) {
  const std::size_t item = size();
  if (item == kEmpty) throw std::length_error("more digests than 32 bits can count");
  if (4 * (used_ + 1) > 3 * slots_.size()) grow();
  digests_.push_back(digest);
  repeated_.push_back(false);
  std::uint32_t& slot = slots_[find(digest)];
  if (slot == kEmpty) {
    slot = static_cast<std::uint32_t>(item);
    ++used_;
  } else {
    repeated_[slot] = true;
  }
  return slot;
}

std::size_t DigestIndex::find(const Digest& digest) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = digest[0] & mask;
  while (slots_[at] != kEmpty && digests_.data()[slots_[at]] != digest) at = (at + 1) & mask;
  return at;
}

// Makes the table twice as large. The old one, from which nothing is needed, goes first.
void DigestIndex::grow() {
  const std::size_t slots = 2 * slots_.size();
  slots_ = {};
  slots_.assign(slots, kEmpty);
  for (std::size_t item = 0; item < size(); ++item) {
    std::uint32_t& slot = slots_[find(digests_.data()[item])];
    if (slot == kEmpty) slot = static_cast<std::uint32_t>(item);
  }
}

}  // namespace hiero
