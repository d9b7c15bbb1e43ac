// Strings of words that differ, by their hashes, numbered in the order in which they were added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hiero/forest/string_hash.h"

namespace hiero {

class DistinctStrings {
 public:
  std::size_t size() const { return strings_.size(); }
  const StringHash& operator[](std::size_t number) const { return strings_[number]; }

  // Adds a string unless it is there. Returns its number, and whether it was added.
  std::pair<std::size_t, bool> add(const StringHash& string) {
    const std::size_t number = find(string);
    if (number < size()) return {number, false};
    strings_.push_back(string);
    if (!slots_.empty() && 2 * size() <= slots_.size()) {
      *slot_of(string) = static_cast<std::uint32_t>(number);
    } else if (size() > kFew) {
      slots_.assign(slots_.empty() ? 4 * kFew : 2 * slots_.size(), kFree);
      for (std::size_t i = 0; i < size(); ++i) *slot_of(strings_[i]) = static_cast<std::uint32_t>(i);
    }
    return {number, true};
  }

  // Removes all strings.
  void clear() {
    strings_.clear();
    slots_.clear();
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  // So few strings are found as fast without a table: most nodes of a forest have no more.
  static constexpr std::size_t kFew = 8;

  std::size_t find(const StringHash& string) {
    if (!slots_.empty()) {
      const std::uint32_t number = *slot_of(string);
      return number == kFree ? size() : number;
    }
    std::size_t number = 0;
    while (number < size() && strings_[number].value() != string.value()) ++number;
    return number;
  }

  // Returns the slot of a string, or a free slot for it.
  std::uint32_t* slot_of(const StringHash& string) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = string.value()[0] & mask;; at = (at + 1) & mask) {
      if (slots_[at] == kFree || strings_[slots_[at]].value() == string.value()) return &slots_[at];
    }
  }

  std::vector<StringHash> strings_;
  std::vector<std::uint32_t> slots_;  // open addressing: numbers; empty while there are few strings
};

}  // namespace hiero
