// Variable-length integers (LEB128): seven bits per byte, lowest first; the top bit is set on all bytes but
// the last. Small numbers take one byte. Memory that may be damaged is read by Cursor (cursor.h), not by
// get_varint().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hiero {

inline void put_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// Appends the length of a text and its bytes.
inline void put_string(std::vector<std::byte>& out, std::string_view text) {
  put_varint(out, text.size());
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

// Reads a number and moves `at` behind it. Does not check where memory ends.
inline std::uint64_t get_varint(const std::byte*& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace hiero
