// A symbol of a rule side: a word id, or a nonterminal if the top bit is set. The other bits of a nonterminal
// are its payload:
//   source side  the label id
//   target side  the index (0, 1, ...) of the linked source nonterminal, in source order
#pragma once

#include <cstdint>

namespace hiero {

using WordId = std::uint32_t;
using LabelId = std::uint32_t;
using Symbol = std::uint32_t;

inline constexpr Symbol kNonterminalBit = 1u << 31;
inline constexpr WordId kNoWord = kNonterminalBit - 1;
inline constexpr LabelId kNoLabel = ~LabelId{0};
// Maximum number of nonterminals in a rule, since its reordering flags are the bits of one byte.
inline constexpr std::uint32_t kMaxArity = 8;

inline constexpr bool is_nonterminal(Symbol s) { return s & kNonterminalBit; }
inline constexpr Symbol nonterminal(std::uint32_t label_or_index) { return kNonterminalBit | label_or_index; }
inline constexpr std::uint32_t payload(Symbol s) { return s & ~kNonterminalBit; }

}  // namespace hiero
