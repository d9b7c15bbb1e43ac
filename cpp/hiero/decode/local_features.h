// Local features: scores of a rule application that depend on the source side and the rule alone. They
// are computed for all applications of a sentence at once, before search, so that an implementation in
// an array language costs one call per sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

// All rules of one source side and label, on one span with one choice of gaps: structure of arrays.
struct Applications {
  std::uint32_t arity = 2;  // room for nonterminals in `gaps`, as many as any rule of the sentence has
  std::vector<std::int32_t> table;   // index of the rules' table
  std::vector<std::uint32_t> label;  // left-hand label
  std::vector<std::int32_t> span;    // 2 each: first word, past-the-end word
  std::vector<std::int32_t> gaps;    // 2 arity each: spans of the nonterminals in source order, or -1
  std::size_t size() const { return label.size(); }
};

// The applications of a sentence, and one row per rule of each, in the order of the applications.
struct ApplicationBatch {
  Applications applications;
  std::vector<std::uint32_t> application;  // by row, its application
  std::vector<std::uint32_t> rule;         // rule id within its table
  std::vector<std::uint8_t> reordered;     // bit i: nonterminal i is reordered
  std::size_t size() const { return rule.size(); }
};

// Sparse rows in CSR form; columns index LocalFeatures::names().
struct SparseRows {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

class LocalFeatures {
 public:
  virtual ~LocalFeatures() = default;
  virtual const std::vector<std::string>& names() const = 0;
  // Must be a pure function of its arguments; called from any thread. The result is checked by the
  // caller: size() rows, columns in range, finite values.
  virtual SparseRows compute(std::span<const std::string> tokens, const ApplicationBatch& batch) const = 0;
};

// How messages call them: by their names.
inline std::string described(const LocalFeatures& features) {
  std::string text;
  for (const std::string& name : features.names()) text += (text.empty() ? "local features " : ", ") + name;
  return text;
}

}  // namespace hiero
