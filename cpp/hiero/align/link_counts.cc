#include "hiero/align/link_counts.h"

#include <utility>

namespace hiero {

void LinkCounts::add(WordId target, WordId source, std::int32_t change) {
  Row& row = rows_[target];
  if (4 * (row.used + 1) > 3 * row.slots.size()) row.grow();
  LinkSlot& slot = row.slots[LinkRow(row.slots).find(source)];
  row.used += slot.source == LinkSlot::kFree;
  slot.source = source;
  slot.count += static_cast<std::uint32_t>(change);
}

// Drops counts of 0, and makes the table twice as large if it is still half full.
void LinkCounts::Row::grow() {
  std::uint32_t live = 0;
  for (const LinkSlot& slot : slots) live += slot.count > 0;
  const std::size_t size = 2 * live >= slots.size() ? 2 * slots.size() : slots.size();
  const std::vector<LinkSlot> old = std::exchange(slots, std::vector<LinkSlot>(size));
  used = live;
  for (const LinkSlot& slot : old) {
    if (slot.count > 0) slots[LinkRow(slots).find(slot.source)] = slot;
  }
}

}  // namespace hiero
