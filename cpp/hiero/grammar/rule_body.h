// Encodes the body of a rule for a packed table: reordering flags, target side and links (the beginning of
// kRecords in packed_format.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

// Replaces the contents of `out`. A target nonterminal is the index of its source nonterminal (symbol.h).
void encode_body(std::span<const Symbol> source, std::span<const Symbol> target,
                 std::span<const AlignmentLink> links, std::vector<std::byte>& out);

}  // namespace hiero
