// What a rule has besides its source side and features, as packed tables store it: reordering flags,
// target side and links (see kRecords in packed_format.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

// Replaces `out`. Nonterminals of the target side are indices of those of the source side.
void encode_body(std::span<const Symbol> source, std::span<const Symbol> target,
                 std::span<const AlignmentLink> links, std::vector<std::byte>& out);

}  // namespace hiero
