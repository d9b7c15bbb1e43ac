// Symbol sequences as bytes whose memcmp order is the order of the sequences: symbols in numeric order,
// words before nonterminals, a prefix before what it begins. Small ids take few bytes.
//
//   0x00                 the end of a sequence
//   0x01 .. 0x7F         words 0 .. 126
//   0x80 .. 0xBF + 1     the next 2^14 words
//   0xC0 .. 0xDF + 2     the next 2^21
//   0xE0 + 4             the rest
//   0xFF                 a nonterminal; its payload follows as a word does
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

inline constexpr std::byte kEndOfSymbols{0};

inline void put_symbol(std::vector<std::byte>& out, Symbol symbol) {
  constexpr std::uint32_t kOne = 127;
  constexpr std::uint32_t kTwo = kOne + (1u << 14);
  constexpr std::uint32_t kThree = kTwo + (1u << 21);
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<std::byte>(byte)); };
  if (is_nonterminal(symbol)) put(0xFF);
  std::uint32_t id = payload(symbol);
  int more;
  if (id < kOne) {
    put(id + 1);
    return;
  }
  if (id < kTwo) {
    id -= kOne;
    put(0x80 | id >> 8);
    more = 1;
  } else if (id < kThree) {
    id -= kTwo;
    put(0xC0 | id >> 16);
    more = 2;
  } else {
    put(0xE0);
    more = 4;
  }
  for (int shift = 8 * (more - 1); shift >= 0; shift -= 8) put(id >> shift & 0xFF);
}

// The bytes of a symbol after its first byte, which may not be the end mark.
inline int more_bytes(std::byte first) {
  return first < std::byte{0x80} ? 0 : first < std::byte{0xC0} ? 1 : first < std::byte{0xE0} ? 2 : 4;
}

// Behind the end mark of the sequence that begins at `at`; nullptr if it is not whole before `end`.
inline const std::byte* skip_symbols(const std::byte* at, const std::byte* end) {
  while (at < end && *at != kEndOfSymbols) {
    if (*at == std::byte{0xFF} && ++at == end) return nullptr;
    const int more = more_bytes(*at);
    if (end - at <= more) return nullptr;
    at += 1 + more;
  }
  return at < end ? at + 1 : nullptr;
}

// Reads a sequence that is known to be whole up to its end mark and moves `at` behind that.
inline void get_symbols(const std::byte*& at, std::vector<Symbol>& out) {
  out.clear();
  while (*at != kEndOfSymbols) {
    Symbol kind = 0;
    if (*at == std::byte{0xFF}) {
      kind = kNonterminalBit;
      ++at;
    }
    const int more = more_bytes(*at);
    const auto first = static_cast<std::uint32_t>(*at++);
    std::uint32_t id = more == 0 ? first - 1 : more == 1 ? first & 0x3F : more == 2 ? first & 0x1F : 0;
    for (int i = 0; i < more; ++i) id = id << 8 | static_cast<std::uint32_t>(*at++);
    if (more == 1) id += 127;
    if (more == 2) id += 127 + (1u << 14);
    out.push_back(kind | (id & ~kNonterminalBit));
  }
  ++at;
}

}  // namespace hiero
