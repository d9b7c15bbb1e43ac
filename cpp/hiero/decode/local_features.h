// Local features: scores of a rule application that depend on the source side and the rule alone. They
// are computed for all applications of a sentence at once, before search, so that an implementation in
// an array language costs one call per sentence. There are three kinds: those that depend on the span alone,
// those that depend on the sizes of gaps and whether these are reordered, and all others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

class Sentence;

// What is known of a sentence besides its tokens. Only those who make it and their features look into it.
class Annotations {
 public:
  virtual ~Annotations() = default;
};

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

// Sparse rows in CSR form; columns index the features' names().
struct SparseRows {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  // Calls use(column, value) for the entries of a row.
  template <class Use>
  void visit(std::size_t row, const Use& use) const {
    for (auto i = static_cast<std::size_t>(offsets[row]); i < static_cast<std::size_t>(offsets[row + 1]); ++i)
      use(static_cast<std::uint32_t>(columns[i]), values[i]);
  }
};

// Throws std::invalid_argument, naming the features, unless these are so many rows of finite values of
// `names`.
void check_rows(const SparseRows& rows, std::size_t expected, const std::vector<std::string>& names);

// How messages call features: by their names, or the first of many.
std::string described(const std::vector<std::string>& names);

// The results of compute() are checked by the caller. It must be a pure function of its arguments, and is
// called from any thread.
class RuleFeatures {
 public:
  virtual ~RuleFeatures() = default;
  virtual const std::vector<std::string>& names() const = 0;
  // batch.size() rows.
  virtual SparseRows compute(const Sentence& sentence, const ApplicationBatch& batch) const = 0;
};

// The same for all rules on a span, but rules of the goal, which have them only if they are for `goal`.
class SpanFeatures {
 public:
  virtual ~SpanFeatures() = default;
  virtual const std::vector<std::string>& names() const = 0;
  virtual bool goal() const = 0;
  // A row per span; spans are 2 each: first word, past-the-end word.
  virtual SparseRows compute(const Sentence& sentence, std::span<const std::int32_t> spans) const = 0;
};

// Of every nonterminal of a rule, by the source words that it stands for and whether it is reordered, summed
// over these; rules of the goal have them only if they are for `goal`.
struct GapFeatures {
  std::vector<std::string> names;
  bool goal = false;
  std::uint32_t sizes = 0;  // at least 1
  SparseRows rows;          // row 2 (size - 1) + reordered; the last size stands for all larger ones, too

  std::size_t row(std::uint32_t size, bool reordered) const {
    return 2 * (std::size_t{size < sizes ? size : sizes} - 1) + (reordered ? 1 : 0);
  }
};

}  // namespace hiero
