// One synchronous rule outside any table, as read from text or made for one sentence.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hiero {

// A token of a rule side. For a nonterminal, `text` is its label and `index` (1 to kMaxArity) links source
// and target; for a word, `text` is the unescaped word and `index` is 0.
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
  // Source-target token positions; nonterminals count as positions.
  std::vector<std::pair<int, int>> links;

  bool operator==(const Rule&) const = default;
};

}  // namespace hiero
