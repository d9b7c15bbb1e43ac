// A symbol of a rule side: a word id, or (top bit set) a nonterminal. On a source side the rest of a
// nonterminal is its label id; on a target side it is the index (0, 1, ...) of the source nonterminal it is
// linked to, in source order.
#pragma once

#include <cstdint>

namespace hiero {

using WordId = std::uint32_t;
using LabelId = std::uint32_t;
using Symbol = std::uint32_t;

inline constexpr Symbol kNonterminalBit = 1u << 31;
inline constexpr WordId kNoWord = kNonterminalBit - 1;
inline constexpr LabelId kNoLabel = ~LabelId{0};
// Nonterminals that a rule may have: reordering flags are a bit each of one byte.
inline constexpr std::uint32_t kMaxArity = 8;

inline constexpr bool is_nonterminal(Symbol s) { return s & kNonterminalBit; }
inline constexpr Symbol nonterminal(std::uint32_t label_or_index) { return kNonterminalBit | label_or_index; }
inline constexpr std::uint32_t payload(Symbol s) { return s & ~kNonterminalBit; }

}  // namespace hiero
