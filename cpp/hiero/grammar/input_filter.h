// Tells which rules can match any sentence of an input text, exactly: words in order within a sentence, every
// nonterminal standing for at least one word.
//
// Rules with <s> first or </s> last, as the glue grammars of Joshua and Moses have them, match at the edges
// of sentences. The label whose rules open sentences with <s> on both sides is their goal from its first such
// rule on: its rules may span any length, and a goal that begins one may stand for <s> alone. Rules that open
// sentences are all kept, since they say what the goal is.
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
  // Reads the sentences, one a line, tokens between white space. `span_limit` bounds the words a rule may
  // span; 0: any number, as for rules of the label `goal`, which the decoder does not bound. Throws
  // FormatError for invalid UTF-8.
  InputFilter(LineReader& input, std::uint32_t span_limit, std::string goal);

  // Takes the rules of a grammar in their order.
  bool can_match(const RuleParser& rule);

 private:
  // Which sentences a rule may match: those with sentence marks, those without, or, as for a goal of which it
  // is not known yet whether its rules have marks, both.
  enum class Kind { kPlain, kMarked, kEither };

  bool find_match(const PatternIndex& index, std::uint32_t span_limit) const;

  std::uint32_t span_limit_;
  std::string goal_;
  std::set<std::string, std::less<>> marked_goals_;
  Vocab words_;
  std::uint32_t known_words_ = 0;
  PatternIndex plain_;
  PatternIndex marked_;  // the sentences with <s> before and </s> behind
  std::vector<Symbol> pattern_;
  // Grammars have the rules of a source side together.
  std::vector<Symbol> last_;
  Kind last_kind_ = Kind::kPlain;
  bool last_matched_ = false;
};

}  // namespace hiero
