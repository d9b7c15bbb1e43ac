// One of several shares of a piece of work, each of which may be done by another process or machine.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace hiero {

struct Shard {
  // The most shards that there may be.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  std::size_t index = 0;
  std::size_t count = 1;

  bool is_valid() const { return index < count && count <= kMost; }
  // Throws std::invalid_argument unless it is valid.
  void check() const {
    if (!is_valid())
      throw std::invalid_argument("a shard has a number below that of all shards, of which there are up to " +
                                  std::to_string(kMost));
  }
  // Returns whether it has an item, where items are dealt out in turn.
  bool has(std::size_t item) const { return item % count == index; }
  // Returns the first item and the one behind the last, where it has neighbouring items.
  std::pair<std::size_t, std::size_t> range(std::size_t items) const {
    return {items * index / count, items * (index + 1) / count};
  }
};

}  // namespace hiero
