// Tells which rules can match any sentence of an input text, exactly: words in order within a sentence, every
// nonterminal standing for at least one word.
#pragma once

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

  bool can_match(std::string_view lhs, const std::vector<TokenView>& source);

 private:
  bool find_match(std::uint32_t span_limit) const;

  std::uint32_t span_limit_;
  std::string goal_;
  Vocab words_;
  std::uint32_t known_words_ = 0;
  PatternIndex index_;
  std::vector<Symbol> pattern_;
  // Grammars have the rules of a source side together.
  std::vector<Symbol> last_;
  std::uint32_t last_limit_ = 0;
  bool last_matched_ = false;
};

}  // namespace hiero
