// Encodes sequences of symbols as bytes whose memcmp order is that of the sequences: symbols in numeric
// order, words before nonterminals, a sequence before longer ones that it begins. Small ids take few bytes:
//
//   0x00                     end of a sequence
//   0x01 .. 0x7F             words 0 .. 126
//   0x80 .. 0xBF, 1 byte     the next 2^14 words
//   0xC0 .. 0xDF, 2 bytes    the next 2^21 words
//   0xE0, 4 bytes            all other words
//   0xFF                     a nonterminal; its payload follows, encoded like a word
//
// How to use: put_symbol(bytes, symbol) for each symbol, then push_back(kEndOfSymbols); skip_symbols() checks
// and skips a sequence in bytes that may be damaged, and get_symbols() decodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

inline constexpr std::byte kEndOfSymbols{0};

// Words below these take one, two and three bytes.
inline constexpr std::uint32_t kOneByteWords = 127;
inline constexpr std::uint32_t kTwoByteWords = kOneByteWords + (1u << 14);
inline constexpr std::uint32_t kThreeByteWords = kTwoByteWords + (1u << 21);

inline void put_symbol(std::vector<std::byte>& out, Symbol symbol) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<std::byte>(byte)); };
  if (is_nonterminal(symbol)) put(0xFF);
  std::uint32_t id = payload(symbol);
  int trailing;
  if (id < kOneByteWords) {
    put(id + 1);
    return;
  }
  if (id < kTwoByteWords) {
    id -= kOneByteWords;
    put(0x80 | id >> 8);
    trailing = 1;
  } else if (id < kThreeByteWords) {
    id -= kTwoByteWords;
    put(0xC0 | id >> 16);
    trailing = 2;
  } else {
    put(0xE0);
    trailing = 4;
  }
  for (int shift = 8 * (trailing - 1); shift >= 0; shift -= 8) put(id >> shift & 0xFF);
}

// Returns the number of bytes of a word after its first byte.
inline int trailing_bytes(std::byte first) {
  return first < std::byte{0x80} ? 0 : first < std::byte{0xC0} ? 1 : first < std::byte{0xE0} ? 2 : 4;
}

// Returns the position after the end mark of the sequence that begins at `at`, or nullptr if the sequence
// does not end before `end`.
inline const std::byte* skip_symbols(const std::byte* at, const std::byte* end) {
  while (at < end && *at != kEndOfSymbols) {
    if (*at == std::byte{0xFF} && ++at == end) return nullptr;
    const int trailing = trailing_bytes(*at);
    if (end - at <= trailing) return nullptr;
    at += 1 + trailing;
  }
  return at < end ? at + 1 : nullptr;
}

// Decodes the sequence at `at` and moves `at` behind its end mark. The sequence must be complete:
// skip_symbols() checks that.
inline void get_symbols(const std::byte*& at, std::vector<Symbol>& out) {
  out.clear();
  while (*at != kEndOfSymbols) {
    Symbol nonterminal_bit = 0;
    if (*at == std::byte{0xFF}) {
      nonterminal_bit = kNonterminalBit;
      ++at;
    }
    const int trailing = trailing_bytes(*at);
    const auto first = static_cast<std::uint32_t>(*at++);
    std::uint32_t id = trailing == 0   ? first - 1
                       : trailing == 1 ? first & 0x3F
                       : trailing == 2 ? first & 0x1F
                                       : 0;
    for (int i = 0; i < trailing; ++i) id = id << 8 | static_cast<std::uint32_t>(*at++);
    if (trailing == 1) id += kOneByteWords;
    if (trailing == 2) id += kTwoByteWords;
    out.push_back(nonterminal_bit | (id & ~kNonterminalBit));
  }
  ++at;
}

}  // namespace hiero
