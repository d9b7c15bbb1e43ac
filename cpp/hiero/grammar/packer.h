// Packs a grammar in text form (rule_text.h) into a rule table (rule_table.h), in bounded memory: rules are
// parsed, sorted on disk (sorted_rules.h), and written (table_writer.h).
//
// How to use: pack_rules(lines, "grammar.hrt", {}, nullptr, progress); then RuleTable::open("grammar.hrt").
// RuleTable::build() makes a table of a few rules in memory in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/base/line_reader.h"
#include "hiero/grammar/input_filter.h"

namespace hiero {

struct PackOptions {
  // Name of the table, used in names of features: tm_<owner>_0. If empty, the model chooses a name.
  std::string owner;
  // Maximum number of source words that a rule may span; 0: the span limit of the decoder.
  std::uint32_t span_limit = 0;
  // Bytes for sorting rules. The vocabulary takes additional memory.
  std::uint64_t memory = std::uint64_t{320} << 20;
};

// Receives the number of rules that were read. It is called regularly, also while the table is written, and
// may throw to stop the work.
using PackProgress = std::function<void(std::uint64_t rules)>;

// Writes the table in full or not at all. Only rules that `filter` can match are kept, or all rules if it is
// null. Throws FormatError naming the line for a malformed rule or a cycle of unary rules, and FileError.
void pack_rules(LineReader& lines, const std::string& output, const PackOptions& options, InputFilter* filter,
                const PackProgress& progress);

}  // namespace hiero
