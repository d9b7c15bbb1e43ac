// Joshua and Moses put <s> and </s> around the input, and their glue grammars derive the two like words:
//   [GOAL] ||| <s> ||| <s>
//   [GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2]
//   [GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s>
// We read such a grammar G as rules without marks that derive the same translations with the same features:
//   an opening rule G -> <s> goes into a copy of every rule that begins with G:  G -> G a  also as  G -> a,
//                    with the words that the opening rule has after <s> on its target side
//   G -> <s> a       becomes  G -> a
//   G -> a </s>      becomes  T -> a,  where T is a goal of its own, over whole sentences only
// In a table with such rules the words <s> and </s> match nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/grammar/rule_table.h"

namespace hiero {

// The end of messages about marks: how to read <s> and </s> as words.
inline constexpr const char* kNotMarks = " (where another goal is named, <s> and </s> are words)";

// Returns the label whose rules open sentences with <s> on both sides; nothing if the table has no such rule,
// or if `goal` names another label. `name` is the table's for messages. Throws FormatError if there are
// several such labels and `goal` is empty.
std::optional<std::string> marked_goal(const RuleTable& table, const std::string& name,
                                       std::string_view goal);

// Returns the rules without marks that replace the marked rules of `table` for the goal `goal`; `top` is T.
// If `count_rules`, each has a feature RulePenalty with the number of rules that it replaces. Throws
// FormatError for marks that are not at the edges of the goal's rules.
std::vector<Rule> without_marks(const RuleTable& table, const std::string& name, const std::string& owner,
                                const std::string& goal, const std::string& top, bool count_rules);

}  // namespace hiero
