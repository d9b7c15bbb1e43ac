// Packs rules into a table: text through an external sort into a file, or a few rules into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/base/line_reader.h"
#include "hiero/grammar/input_filter.h"

namespace hiero {

struct PackOptions {
  std::string owner;             // "": whoever loads the table names it
  std::uint32_t span_limit = 0;  // 0: the decoder's
  // Bytes for rules being sorted; the vocabulary comes on top.
  std::uint64_t memory = std::uint64_t{320} << 20;
};

// Called now and then, also while the table is written, with the number of rules read; may throw to stop.
using PackProgress = std::function<void(std::uint64_t rules)>;

// Replaces `output` only when the new table is whole. Throws FormatError naming the line for malformed
// rules or a cycle of unary rules, FileError. A filter, unless null, says which rules are kept.
void pack_rules(LineReader& lines, const std::string& output, const PackOptions& options, InputFilter* filter,
                const PackProgress& progress);

}  // namespace hiero
