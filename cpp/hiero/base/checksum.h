// A 64-bit checksum of a byte range: four independent multiply-mix lanes over 32-byte stripes, so that
// it runs at memory speed without special instructions. Little-endian by definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hiero {

namespace checksum_detail {

inline std::uint64_t load(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline std::uint64_t mix(std::uint64_t lane, std::uint64_t value) {
  lane = (lane ^ value) * 0x9E3779B97F4A7C15ull;
  return lane ^ (lane >> 29);
}

}  // namespace checksum_detail

inline std::uint64_t checksum(const std::byte* data, std::size_t size) {
  using checksum_detail::load;
  using checksum_detail::mix;
  std::uint64_t lanes[4] = {0x243F6A8885A308D3ull, 0x13198A2E03707344ull, 0xA4093822299F31D0ull,
                            0x082EFA98EC4E6C89ull ^ size};
  while (size >= 32) {
    for (int i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], load(data + 8 * i));
    data += 32;
    size -= 32;
  }
  for (int i = 0; size > 0; ++i) {
    std::uint64_t value = 0;
    const std::size_t part = size < 8 ? size : 8;
    std::memcpy(&value, data, part);
    lanes[i] = mix(lanes[i], value);
    data += part;
    size -= part;
  }
  std::uint64_t out = lanes[0];
  for (int i = 1; i < 4; ++i) out = mix(out, lanes[i]);
  return out ^ (out >> 32);
}

}  // namespace hiero
