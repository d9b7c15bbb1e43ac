// Decides which rules of a grammar can match a sentence of an input text. The test is exact: the words of the
// source side occur in order in one sentence, and every nonterminal stands for at least one word.
//
// How to use: InputFilter filter(input, span_limit, "S"); then filter.can_match(rule) for every rule of the
// grammar, in its order.
//
// Rules that begin with <s> or end with </s>, as in the glue grammars of Joshua and Moses, match at the ends
// of sentences. A label is a goal once it has a rule with <s> first on both sides. Rules of a goal may span
// any length, and a goal at the beginning of a source side may stand for <s> alone. Rules with <s> first on
// both sides are always kept, since the decoder needs them to know the goal.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/line_reader.h"
#include "hiero/base/vocab.h"
#include "hiero/grammar/pattern_index.h"
#include "hiero/grammar/rule_text.h"

namespace hiero {

class InputFilter {
 public:
  // Reads one sentence per line, with tokens between white space. `span_limit` is the maximum number of words
  // that a rule may span, 0 for any number; rules of the label `goal` may span any number, as in the decoder.
  // Throws FormatError for invalid UTF-8.
  InputFilter(LineReader& input, std::uint32_t span_limit, std::string goal);

  // Rules must come in the order of the grammar.
  bool can_match(const RuleParser& rule);

 private:
  // The sentences that a rule may match: those without <s> and </s>, those with them, or both. The last is
  // for the goal as long as no rule has told whether its rules have these marks.
  enum class Kind { kPlain, kMarked, kEither };

  bool find_match(const PatternIndex& index, std::uint32_t span_limit) const;

  std::uint32_t span_limit_;
  std::string goal_;
  std::set<std::string, std::less<>> marked_goals_;
  Vocab words_;
  std::uint32_t input_words_ = 0;  // ids below this are words of the input
  PatternIndex plain_;
  PatternIndex marked_;  // the sentences with <s> before and </s> after them
  std::vector<Symbol> pattern_;
  // The result for the last source side: grammars list the rules of one source side together.
  std::vector<Symbol> last_pattern_;
  Kind last_kind_ = Kind::kPlain;
  bool last_matched_ = false;
};

}  // namespace hiero
