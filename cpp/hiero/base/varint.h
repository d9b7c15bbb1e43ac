// Numbers of few bytes: seven bits a byte, the lowest first, the top bit set on all but the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hiero {

inline void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// Reads a number that is known to be whole and moves `at` behind it.
inline std::uint64_t get_varint(const std::byte*& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace hiero
