// Local features: scores of a rule application that depend on the source side and the rule alone. They are
// computed for all applications of a sentence at once, before the search, so that an implementation in an
// array language costs one call per sentence. There are three kinds: features of the span alone, features of
// the sizes of gaps and whether these are reordered, and features of single rules, which can depend on all of
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

class Sentence;

// Data of a sentence besides its tokens, such as a parse. Opaque to the decoder, which passes it from the
// caller to the caller's features.
class Annotations {
 public:
  virtual ~Annotations() = default;
};

// Rule applications as a structure of arrays. An application is all rules of one source side and label, on
// one span with one choice of gaps.
struct Applications {
  std::uint32_t arity = 2;           // nonterminals that `gaps` has room for: the most of any rule
  std::vector<std::int32_t> table;   // index of the rules' table
  std::vector<std::uint32_t> label;  // left-hand label
  std::vector<std::int32_t> span;    // 2 each: first word, past-the-end word
  std::vector<std::int32_t> gaps;    // 2 arity each: spans of the nonterminals in source order, or -1
  std::size_t size() const { return label.size(); }
};

// The applications of a sentence, and one row per rule of an application, in the order of the applications.
struct ApplicationBatch {
  Applications applications;
  std::vector<std::uint32_t> application;  // by row, its application
  std::vector<std::uint32_t> rule;         // rule id within its table
  std::vector<std::uint8_t> reordered;     // bit i: nonterminal i is reordered
  std::size_t size() const { return rule.size(); }
};

// Sparse rows in CSR form, with one column per name of the features.
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

// Throws std::invalid_argument, naming the features, unless there are `expected` rows of finite values and
// every column has a name.
void check_rows(const SparseRows& rows, std::size_t expected, const std::vector<std::string>& names);

// Returns the features' names for messages, at most the first ten.
std::string described(const std::vector<std::string>& names);

// Features of single rules in an application. compute() must be a pure function of its arguments, and is
// called from any thread; the caller checks its results.
class RuleFeatures {
 public:
  virtual ~RuleFeatures() = default;
  virtual const std::vector<std::string>& names() const = 0;
  // Returns a row per row of the batch.
  virtual SparseRows compute(const Sentence& sentence, const ApplicationBatch& batch) const = 0;
};

// Features of the span of an application. Rules of the goal have them only if goal() is true. compute() is
// called like that of RuleFeatures.
class SpanFeatures {
 public:
  virtual ~SpanFeatures() = default;
  virtual const std::vector<std::string>& names() const = 0;
  virtual bool goal() const = 0;
  // Returns a row per span. A span is two elements: first word, past-the-end word.
  virtual SparseRows compute(const Sentence& sentence, std::span<const std::int32_t> spans) const = 0;
};

// Features of a nonterminal, by the number of source words in its gap and whether it is reordered. A rule has
// the sum over its nonterminals; rules of the goal have none unless `goal` is true.
struct GapFeatures {
  std::vector<std::string> names;
  bool goal = false;
  std::uint32_t sizes = 0;  // at least 1
  SparseRows rows;          // row 2 (size - 1) + reordered; the last size stands for all larger ones too

  std::size_t row(std::uint32_t size, bool reordered) const {
    return 2 * (std::size_t{size < sizes ? size : sizes} - 1) + (reordered ? 1 : 0);
  }
};

}  // namespace hiero
