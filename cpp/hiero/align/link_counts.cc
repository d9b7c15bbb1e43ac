#include "hiero/align/link_counts.h"

#include <utility>

namespace hiero {

void LinkCounts::Row::add(WordId source, std::int32_t change) {
  if (4 * (used_ + 1) > 3 * slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = first_slot(source) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.source == kFree) {
      slot.source = source;
      ++used_;
    }
    if (slot.source == source) {
      slot.count += static_cast<std::uint32_t>(change);
      return;
    }
  }
}

// Drops counts of 0, and makes the table twice as large if it is still half full.
void LinkCounts::Row::grow() {
  std::uint32_t live = 0;
  for (const Slot& slot : slots_) live += slot.count > 0;
  const std::size_t size = 2 * live >= slots_.size() ? 2 * slots_.size() : slots_.size();
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  used_ = 0;
  for (const Slot& slot : old) {
    if (slot.count == 0) continue;
    std::size_t at = first_slot(slot.source) & (size - 1);
    while (slots_[at].source != kFree) at = (at + 1) & (size - 1);
    slots_[at] = slot;
    ++used_;
  }
}

}  // namespace hiero
