// Writes a packed rule table (packed_format.h) from sorted rules, in two passes over them: the first counts,
// so that the place of every section is known, and the second writes all sections at once.
//
// How to use: write_table(names, sorted.scanner(), file, poll); file.commit();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hiero/base/output_file.h"
#include "hiero/base/vocab.h"
#include "hiero/grammar/image_sink.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/sorted_rules.h"

namespace hiero {

// The parts of a table besides its rules, and the number of rules.
struct TableNames {
  std::string owner;  // may be empty
  std::uint32_t span_limit = 0;
  Vocab words;
  Vocab labels;
  struct Feature {
    std::string name;
    std::int32_t position = -1;  // of a value without a name; -1: it has a name
    std::uint64_t rules = 0;     // number of rules with this feature
  };
  std::vector<Feature> features;
  std::uint64_t rules = 0;
};

// Visits all rules, sorted by source side (symbols in numeric order, a prefix first) and then by left-hand
// label. Each call must visit the same rules.
using RuleScan = std::function<void(const std::function<void(const RuleRow&)>& visit)>;

// Calls `poll` regularly, which may throw to stop the work. Throws FormatError for more than 2^32 - 2 rules
// or trie nodes.
void write_table(const TableNames& names, const RuleScan& rules, ImageSink& sink,
                 const std::function<void()>& poll);
// Writes the table to a file. The caller commits the file.
void write_table(const TableNames& names, const RuleScan& rules, OutputFile& file,
                 const std::function<void()>& poll);

}  // namespace hiero
