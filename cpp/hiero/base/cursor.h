// Reads numbers and bytes as varint.h writes them out of memory that may be damaged: never beyond the end;
// ok() turns false where that would happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hiero {

class Cursor {
 public:
  Cursor(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  // A count of things that take at least one byte each.
  std::uint64_t count() {
    const std::uint64_t value = varint();
    if (value <= static_cast<std::uint64_t>(end_ - at_)) return value;
    ok_ = false;
    return 0;
  }
  std::string_view bytes(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
      ok_ = false;
      return {};
    }
    const std::string_view out(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return out;
  }
  std::string_view string() { return bytes(varint()); }
  std::string_view rest() { return bytes(static_cast<std::uint64_t>(end_ - at_)); }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }

 private:
  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace hiero
