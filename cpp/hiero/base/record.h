// A record of a key and a value, encoded as: length of the key, length of the value, key, value. Lengths are
// varints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/cursor.h"
#include "hiero/base/varint.h"

namespace hiero {

using Bytes = std::span<const std::byte>;

struct Record {
  Bytes key;
  Bytes value;
  const std::byte* end;
};

inline Record decode_record(const std::byte* at) {
  const std::size_t key_size = get_varint(at);
  const std::size_t value_size = get_varint(at);
  return {{at, key_size}, {at + key_size, value_size}, at + key_size + value_size};
}

// Reads a record from memory that may be damaged: check in.ok() before you use it.
inline Record read_record(Cursor& in) {
  const std::uint64_t key_size = in.varint();
  const std::uint64_t value_size = in.varint();
  const Bytes key = std::as_bytes(std::span(in.bytes(key_size)));
  const Bytes value = std::as_bytes(std::span(in.bytes(value_size)));
  return {key, value, value.data() + value.size()};
}

inline void put_record(std::vector<std::byte>& out, Bytes key, Bytes value) {
  put_varint(out, key.size());
  put_varint(out, value.size());
  out.insert(out.end(), key.begin(), key.end());
  out.insert(out.end(), value.begin(), value.end());
}

}  // namespace hiero
