// Writes the image of a packed rule table (packed_format.h) from rules in sorted order, in two passes:
// the first counts, so that every section's place is known, the second writes all sections at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hiero/base/output_file.h"
#include "hiero/base/vocab.h"
#include "hiero/grammar/packed_format.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/sorted_rules.h"

namespace hiero {

struct TableNames {
  std::string owner;  // "": not given
  std::uint32_t span_limit = 0;
  Vocab words;
  Vocab labels;
  struct Feature {
    std::string name;
    std::int32_t position = -1;  // of a value without a name
    std::uint64_t rules = 0;     // how many give it
  };
  std::vector<Feature> features;
  std::uint64_t rules = 0;
};

// Visits all rules by source side (symbols in numeric order, a prefix first), then left-hand label; the same
// every time it is called.
using RuleScan = std::function<void(const std::function<void(const RuleRow&)>& visit)>;

// Where the image goes, piece by piece, in any order, every byte of it at most once; what is not written is
// zero.
class ImageSink {
 public:
  virtual ~ImageSink() = default;
  virtual void allocate(std::uint64_t length) = 0;  // called first
  virtual void write(std::uint64_t offset, const void* data, std::size_t size) = 0;
  // Reads back what was written.
  virtual void read(std::uint64_t offset, void* data, std::size_t size) const = 0;
};

// `pause` is called now and then and may throw. Throws FormatError for more than 2^32 - 2 rules or trie
// nodes.
void write_table(const TableNames& names, const RuleScan& rules, ImageSink& sink,
                 const std::function<void()>& pause);
// The same into a file that is still to be committed.
void write_table(const TableNames& names, const RuleScan& rules, OutputFile& file,
                 const std::function<void()>& pause);

}  // namespace hiero
