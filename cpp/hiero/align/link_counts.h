// How often each word was linked with each other one, in one direction: counts of (source word, target word),
// in a hash table for each target word, as the candidates of a target word are looked up together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

// A place of a hash table.
struct LinkSlot {
  static constexpr WordId kFree = ~WordId{0};

  WordId source = kFree;
  std::uint32_t count = 0;  // may be 0 where a count has fallen
};

// The counts of one target word: open addressing in a power of two of slots, of which some are free.
class LinkRow {
 public:
  explicit LinkRow(std::span<const LinkSlot> slots) : slots_(slots.data()), mask_(slots.size() - 1) {}

  std::uint32_t count(WordId source) const { return slots_[find(source)].count; }
  // Calls visit(i, count) with the count of each of these source words.
  template <class Visit>
  void counts(std::span<const WordId> sources, const Visit& visit) const {
    for (std::size_t i = 0; i < sources.size(); ++i) visit(i, count(sources[i]));
  }
  // Calls visit(source, count) for all counts but 0, in no order.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const LinkSlot& slot : std::span(slots_, mask_ + 1)) {
      if (slot.count > 0) visit(slot.source, slot.count);
    }
  }
  // Returns the number of the slot of a source word, or of a free one, whose count is 0.
  std::size_t find(WordId source) const {
    std::size_t at = (source * std::size_t{0x9E3779B97F4A7C15}) >> 32 & mask_;
    while (slots_[at].source != source && slots_[at].source != LinkSlot::kFree) at = (at + 1) & mask_;
    return at;
  }

 private:
  const LinkSlot* slots_;
  std::size_t mask_;
};

class LinkCounts {
 public:
  explicit LinkCounts(std::size_t target_words) : rows_(target_words) {}

  LinkRow row(WordId target) const { return LinkRow(rows_[target].slots); }
  // Adds to a count, which must not fall below 0. Different target words may be changed by different threads.
  void add(WordId target, WordId source, std::int32_t change);
  // Adds target words without counts, until there are so many.
  void grow(std::size_t target_words) { rows_.resize(target_words); }
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::vector<LinkSlot> slots = std::vector<LinkSlot>(2);
    std::uint32_t used = 0;  // that are not free

    void grow();
  };

  std::vector<Row> rows_;
};

}  // namespace hiero
