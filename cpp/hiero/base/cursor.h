// A reader of varints (varint.h), strings and raw bytes from memory that may be damaged. It never reads
// beyond the end.
//
// How to use:
//   1. Cursor in(begin, end);
//   2. in.varint(), in.string(), ...       // 0 or empty where memory ends too early
//   3. if (!in.ok()) ...                   // true only if all reads stayed within the memory
// Check ok() before you use values for more than comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hiero {

class Cursor {
 public:
  Cursor(const std::byte* begin, const std::byte* end) : next_(begin), end_(end) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && next_ < end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*next_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  // Reads the number of elements of a list. An element takes at least one byte, so a number larger than the
  // remaining bytes is an error; this bounds loops over damaged lists.
  std::uint64_t count() {
    const std::uint64_t value = varint();
    if (value <= remaining()) return value;
    ok_ = false;
    return 0;
  }
  std::string_view bytes(std::uint64_t size) {
    if (size > remaining()) {
      ok_ = false;
      return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    return text;
  }
  // Reads a length and as many bytes.
  std::string_view string() { return bytes(varint()); }
  // Reads all remaining bytes.
  std::string_view rest() { return bytes(remaining()); }
  bool ok() const { return ok_; }
  bool at_end() const { return next_ == end_; }

 private:
  std::uint64_t remaining() const { return static_cast<std::uint64_t>(end_ - next_); }

  const std::byte* next_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace hiero
