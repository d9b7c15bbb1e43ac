#include "hiero/decode/sentence_marks.h"

#include <algorithm>
#include <set>

#include "hiero/base/error.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

const RuleToken kOpen{std::string(kOpenMark), 0};
const RuleToken kClose{std::string(kCloseMark), 0};

bool is_mark(const RuleToken& token) { return token == kOpen || token == kClose; }

// Removes <s> from the beginning of both sides, if both have it; else returns false.
bool take_open(Rule& rule) {
  if (rule.source.empty() || rule.target.empty()) return false;
  if (rule.source.front() != kOpen || rule.target.front() != kOpen) return false;
  rule.source.erase(rule.source.begin());
  rule.target.erase(rule.target.begin());
  std::erase_if(rule.links, [](const auto& link) { return link.first == 0 || link.second == 0; });
  for (auto& [source, target] : rule.links) {
    --source;
    --target;
  }
  return true;
}

// Removes </s> from the end of both sides, if both have it; else returns false.
bool take_close(Rule& rule) {
  if (rule.source.empty() || rule.target.empty()) return false;
  if (rule.source.back() != kClose || rule.target.back() != kClose) return false;
  rule.source.pop_back();
  rule.target.pop_back();
  const auto sources = static_cast<int>(rule.source.size());
  const auto targets = static_cast<int>(rule.target.size());
  std::erase_if(rule.links,
                [&](const auto& link) { return link.first == sources || link.second == targets; });
  return true;
}

// Returns the rule with its leading nonterminal replaced: by `words` on the target side, by nothing on the
// source side.
Rule with_words_first(Rule rule, const std::vector<RuleToken>& words) {
  const auto at = std::ranges::find(rule.target, 1, &RuleToken::index) - rule.target.begin();
  const auto added = static_cast<int>(words.size());
  rule.source.erase(rule.source.begin());
  rule.target.erase(rule.target.begin() + at);
  std::erase_if(rule.links, [&](const auto& link) { return link.first == 0 || link.second == at; });
  for (auto& [source, target] : rule.links) {
    --source;
    if (target > at) target += added - 1;
  }
  for (auto* side : {&rule.source, &rule.target}) {
    for (RuleToken& token : *side) token.index -= token.is_nonterminal();
  }
  rule.target.insert(rule.target.begin() + at, words.begin(), words.end());
  return rule;
}

void add_features(Rule& rule, const Rule& other) {
  for (const auto& [name, value] : other.features) {
    const auto at = std::ranges::find(rule.features, name, &std::pair<std::string, float>::first);
    if (at == rule.features.end()) {
      rule.features.emplace_back(name, value);
    } else {
      at->second += value;
    }
  }
}

// The rules of the goal that have marks or begin with the goal, without their marks.
class GoalRules {
 public:
  // Adds a rule, which `leads` if it begins with the goal. Returns false for one that sentence_marks.h does
  // not list.
  bool add(Rule rule, bool leads, const std::string& top) {
    const bool opens = take_open(rule);
    const bool closes = take_close(rule);
    const bool more = std::ranges::any_of(rule.source, is_mark) || std::ranges::any_of(rule.target, is_mark);
    const bool is_opening_rule = opens && rule.source.empty();
    if (more || !(opens || leads) || (is_opening_rule && closes)) return false;
    if (closes) rule.lhs = top;
    if (leads) leading_.push_back(rule);
    if (is_opening_rule) {
      opening_.push_back(std::move(rule));
    } else if (opens || closes) {
      unmarked_.push_back(std::move(rule));
    }
    return true;
  }

  // Returns the rules that had marks, and the copies of leading rules that each opening rule goes into.
  std::vector<Rule> without_opening_rules() && {
    for (const Rule& rule : leading_) {
      if (rule.source.size() == 1) continue;  // [GOAL,1] </s> of the empty sentence
      for (const Rule& opening : opening_) {
        Rule opened = with_words_first(rule, opening.target);
        add_features(opened, opening);
        unmarked_.push_back(std::move(opened));
      }
    }
    return std::move(unmarked_);
  }

 private:
  std::vector<Rule> opening_;  // G -> <s>
  std::vector<Rule> leading_;  // G -> G a
  std::vector<Rule> unmarked_;
};

}  // namespace

std::optional<std::string> marked_goal(const RuleTable& table, const std::string& name,
                                       std::string_view goal) {
  const WordId open = table.find_word(kOpen.text);
  if (open == kNoWord || table.child(RuleTable::kRoot, open) == RuleTable::kNoNode) return std::nullopt;
  std::set<LabelId> goals;
  RuleRecord record;
  table.visit([&](std::span<const Symbol> source, std::span<const RuleGroup> groups) {
    if (source[0] != open) return;
    for (const RuleGroup& group : groups) {
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
        table.record(id, record);
        const bool opens = !record.target.empty() && record.target[0] == open;
        if (opens && (goal.empty() || table.labels()[group.lhs] == goal)) goals.insert(group.lhs);
      }
    }
  });
  if (goals.empty()) return std::nullopt;
  if (goals.size() > 1) {
    std::string message = name + ": rules of several labels open sentences with <s>:";
    for (LabelId label : goals) message += " [" + table.labels()[label] + "]";
    throw FormatError(message + kNotMarks);
  }
  return table.labels()[*goals.begin()];
}

std::vector<Rule> without_marks(const RuleTable& table, const std::string& name, const std::string& owner,
                                const std::string& goal, const std::string& top, bool count_rules) {
  const std::vector<std::string> names = table.feature_names(owner);
  const LabelId label = table.find_label(goal);
  const WordId open = table.find_word(kOpen.text);
  const WordId close = table.find_word(kClose.text);
  GoalRules rules;
  table.visit([&](std::span<const Symbol> source, std::span<const RuleGroup> groups) {
    const bool marked = std::ranges::any_of(source, [&](Symbol s) { return s == open || s == close; });
    for (const RuleGroup& group : groups) {
      if (!marked && group.lhs != label) continue;
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
        Rule rule = table.rule(source, group.lhs, id, names);
        const std::string text = format_rule(rule);
        if (count_rules) rule.features.emplace_back("RulePenalty", 1.0f);
        if (group.lhs != label || !rules.add(std::move(rule), source[0] == nonterminal(label), top)) {
          throw FormatError(name + ": rules of the goal [" + goal +
                            "], and no others, begin with <s> or the goal, and may end with </s>: not so " +
                            text + kNotMarks);
        }
      }
    }
  });
  return std::move(rules).without_opening_rules();
}

}  // namespace hiero
