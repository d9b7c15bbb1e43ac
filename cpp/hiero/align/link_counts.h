// How often each word was linked with each other one, in one direction: counts of (source word, target word),
// in a hash table for each target word, as the candidates of a target word are looked up together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

class LinkCounts {
 public:
  // The counts of one target word.
  class Row {
   public:
    std::uint32_t count(WordId source) const {
      std::uint32_t out;
      counts({&source, 1}, [&](std::size_t, std::uint32_t count) { out = count; });
      return out;
    }
    // Calls visit(i, count) with the count of each of these source words.
    template <class Visit>
    void counts(std::span<const WordId> sources, const Visit& visit) const {
      const Slot* const slots = slots_.data();
      const std::size_t mask = slots_.size() - 1;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::size_t at = first_slot(sources[i]) & mask;
        while (slots[at].source != sources[i] && slots[at].source != kFree) at = (at + 1) & mask;
        visit(i, slots[at].count);  // that of a free slot is 0
      }
    }
    // Adds to a count, which must not fall below 0.
    void add(WordId source, std::int32_t change);

    // Calls visit(source, count) for all counts but 0, in no order.
    template <class Visit>
    void visit(const Visit& visit) const {
      for (const Slot& slot : slots_) {
        if (slot.count > 0) visit(slot.source, slot.count);
      }
    }

   private:
    static constexpr WordId kFree = ~WordId{0};
    struct Slot {
      WordId source = kFree;
      std::uint32_t count = 0;  // may be 0 where a count has fallen
    };
    static std::size_t first_slot(WordId source) { return (source * std::size_t{0x9E3779B97F4A7C15}) >> 32; }
    void grow();

    std::vector<Slot> slots_ = std::vector<Slot>(2);  // open addressing; a power of two of them
    std::uint32_t used_ = 0;                          // that are not free
  };

  explicit LinkCounts(std::size_t target_words) : rows_(target_words) {}

  const Row& row(WordId target) const { return rows_[target]; }
  // Different rows may be changed by different threads.
  Row& row(WordId target) { return rows_[target]; }
  std::size_t size() const { return rows_.size(); }

 private:
  std::vector<Row> rows_;
};

}  // namespace hiero
