// A max-heap by score, first come, first served. A heap element packs the order-preserving bits of the score
// as a float above the complement of the arrival number into 64 bits, so that one integer comparison orders
// two elements; the entries themselves lie in order of arrival and are not moved.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace hiero {

template <class Entry>
class ArrivalQueue {
 public:
  void clear() {
    heap_.clear();
    entries_.clear();
  }
  bool empty() const { return heap_.empty(); }
  float best_score() const { return score_of(heap_.front()); }

  void push(double score, const Entry& entry) {
    const std::uint64_t key =
        make_key(static_cast<float>(score), static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back(entry);
    std::size_t at = heap_.size();
    heap_.push_back(key);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kWidth;
      if (heap_[parent] > key) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = key;
  }

  // Removes the best entry and returns it.
  Entry pop() {
    const std::uint64_t top = heap_.front();
    const std::uint64_t last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = kWidth * at + 1;
      if (first >= size) break;
      const std::size_t end = first + kWidth < size ? first + kWidth : size;
      std::size_t child = first;
      for (std::size_t i = first + 1; i < end; ++i) child = heap_[i] > heap_[child] ? i : child;
      if (heap_[child] < last) break;
      heap_[at] = heap_[child];
      at = child;
    }
    if (size > 0) heap_[at] = last;
    return std::exchange(entries_[~static_cast<std::uint32_t>(top)], Entry{});
  }

  // All entries since clear(), in order of arrival; those that were popped are Entry{}.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::size_t kWidth = 4;

  static std::uint64_t make_key(float score, std::uint32_t arrival) {
    const auto bits = std::bit_cast<std::uint32_t>(score);
    const std::uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (std::uint64_t{ordered} << 32) | ~arrival;
  }
  static float score_of(std::uint64_t key) {
    const auto ordered = static_cast<std::uint32_t>(key >> 32);
    return std::bit_cast<float>(ordered & 0x80000000u ? ordered & 0x7FFFFFFFu : ~ordered);
  }

  std::vector<std::uint64_t> heap_;
  std::vector<Entry> entries_;
};

}  // namespace hiero
