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

// Takes the first or last token off both sides if they are the same mark.
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

// The rule with `words` for its leading nonterminal, which stands for no words of the source.
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
  std::vector<Rule> opening;
  std::vector<Rule> leading;  // begin with the goal
  std::vector<Rule> out;
  table.visit([&](std::span<const Symbol> source, std::span<const RuleGroup> groups) {
    const bool marked = std::ranges::any_of(source, [&](Symbol s) { return s == open || s == close; });
    const bool leads = source[0] == nonterminal(label);
    for (const RuleGroup& group : groups) {
      if (!marked && group.lhs != label) continue;
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
        Rule rule = table.rule(source, group.lhs, id, names);
        const std::string text = format_rule(rule);
        if (count_rules) rule.features.emplace_back("RulePenalty", 1.0f);
        const bool opens = take_open(rule);
        const bool closes = take_close(rule);
        const bool more =
            std::ranges::any_of(rule.source, is_mark) || std::ranges::any_of(rule.target, is_mark);
        const bool is_goal = group.lhs == label && (opens || leads);
        if (more || !is_goal || (opens && closes && rule.source.empty())) {
          throw FormatError(name + ": rules of the goal [" + goal +
                            "], and no others, begin with <s> or the goal, and may end with </s>: not so " +
                            text + kNotMarks);
        }
        if (closes) rule.lhs = top;
        if (leads) leading.push_back(rule);
        if (opens && rule.source.empty()) {
          opening.push_back(rule);
        } else if (opens || closes) {
          out.push_back(rule);
        }
      }
    }
  });
  for (const Rule& rule : leading) {
    if (rule.source.size() == 1) continue;  // [GOAL,1] </s> of the empty sentence
    for (const Rule& open_rule : opening) {
      Rule opened = with_words_first(rule, open_rule.target);
      add_features(opened, open_rule);
      out.push_back(std::move(opened));
    }
  }
  return out;
}

}  // namespace hiero
