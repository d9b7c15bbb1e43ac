// Hashes of strings of words, which are given by index.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

// The hash of a string: the values of two polynomials with its words as coefficients, in the field of 2^61
// - 1. The hash of a concatenation is computed from the hashes and lengths of its parts.
class StringHash {
 public:
  using Value = std::array<std::uint64_t, 2>;
  // A hash function for tables: values are as good as random.
  struct OfValue {
    std::size_t operator()(const Value& value) const { return value[0]; }
  };

  const Value& value() const { return hash_; }

  void append(std::int32_t word) {
    for (std::size_t i = 0; i < 2; ++i)
      hash_[i] = times_plus(hash_[i], kBases[i], static_cast<std::uint64_t>(word) + 1);
    ++length_;
  }
  void append(const StringHash& string) {
    if (length_ == 0) {  // a target side that begins with a nonterminal
      *this = string;
      return;
    }
    for (std::size_t i = 0; i < 2; ++i)
      hash_[i] = times_plus(hash_[i], power(i, string.length_), string.hash_[i]);
    length_ += string.length_;
  }

 private:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  static constexpr Value kBases{0x12F5D3A96E1B7C85, 0x0A7B19C4D2E6F803};
  static constexpr std::size_t kPowers = 64;

  // a b + c in the field.
  static constexpr std::uint64_t times_plus(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b + c;
    std::uint64_t sum =
        static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
    if (sum >= kPrime) sum -= kPrime;
    return sum;
  }

  // Returns a base to the power of a length, from a table for short strings.
  static std::uint64_t power(std::size_t i, std::uint64_t length) {
    static constexpr auto kTable = [] {
      std::array<Value, kPowers> table{Value{1, 1}};
      for (std::size_t n = 1; n < kPowers; ++n) {
        for (std::size_t k = 0; k < 2; ++k) table[n][k] = times_plus(table[n - 1][k], kBases[k], 0);
      }
      return table;
    }();
    std::uint64_t out = kTable[length % kPowers][i];
    if (length < kPowers) return out;
    std::uint64_t square = times_plus(kTable[kPowers - 1][i], kBases[i], 0);
    for (std::uint64_t rest = length / kPowers; rest > 0; rest /= 2) {
      if (rest % 2 == 1) out = times_plus(out, square, 0);
      square = times_plus(square, square, 0);
    }
    return out;
  }

  Value hash_{};
  std::uint64_t length_ = 0;
};

// Returns the hash of an edge's string, where tail(i) is the hash of its i-th tail's.
template <class Tail>
StringHash string_of(const Hypergraph& forest, EdgeIndex edge, const Tail& tail) {
  StringHash out;
  for (const std::int32_t symbol : forest.template_of(edge)) {
    if (symbol >= 0) {
      out.append(symbol);
    } else {
      out.append(tail(static_cast<std::size_t>(-1 - symbol)));
    }
  }
  return out;
}

// Hash and equality for tables with strings of words as keys, which are looked up without a copy.
struct WordsHash {
  using is_transparent = void;
  std::size_t operator()(std::span<const std::int32_t> words) const {
    std::uint64_t hash = words.size();
    for (const std::int32_t word : words) {
      hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

struct WordsEqual {
  using is_transparent = void;
  bool operator()(std::span<const std::int32_t> a, std::span<const std::int32_t> b) const {
    return std::ranges::equal(a, b);
  }
};

}  // namespace hiero
