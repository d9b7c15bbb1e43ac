// A rule of a synchronous context-free grammar as strings: one that was read from text, or made for a
// sentence. Tables store rules in another form (rule_table.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hiero {

// A token of a rule side:
//   word         `text` is the word, unescaped, and `index` is 0
//   nonterminal  `text` is the label, and `index` (1 to kMaxArity) is the same as that of the linked
//   nonterminal
struct RuleToken {
  std::string text;
  int index = 0;

  bool is_nonterminal() const { return index > 0; }
  bool operator==(const RuleToken&) const = default;
};

struct Rule {
  std::string lhs;
  std::vector<RuleToken> source;
  std::vector<RuleToken> target;
  std::vector<std::pair<std::string, float>> features;
  // Pairs of source and target position, counted from 0 in tokens, nonterminals included.
  std::vector<std::pair<int, int>> links;

  bool operator==(const Rule&) const = default;
};

}  // namespace hiero
