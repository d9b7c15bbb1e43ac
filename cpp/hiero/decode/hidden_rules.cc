#include "hiero/decode/hidden_rules.h"

#include <algorithm>
#include <optional>

namespace hiero {
namespace {

// Returns a side in a table's numbering, with the nonterminals that `number` makes of tokens; none if the
// table lacks a word or label.
template <class Number>
std::optional<std::vector<Symbol>> numbered(const RuleTable& table, const std::vector<RuleToken>& side,
                                            const Number& number) {
  std::vector<Symbol> out;
  for (const RuleToken& token : side) {
    const Symbol id = token.is_nonterminal() ? number(token) : table.find_word(token.text);
    if (id == kNoWord || id == kNoLabel) return std::nullopt;
    out.push_back(token.is_nonterminal() ? nonterminal(id) : id);
  }
  return out;
}

}  // namespace

HiddenRules::HiddenRules(const TranslationModel& model, const std::vector<Rule>& rules) : model_(model) {
  if (rules.empty()) return;
  rules_.resize(model.tables().size());
  for (std::size_t t = 0; t < rules_.size(); ++t) {
    for (const Rule& rule : rules) find(t, rule);
    std::ranges::sort(rules_[t]);
    any_ |= !rules_[t].empty();
  }
}

void HiddenRules::find(std::size_t t, const Rule& rule) {
  const RuleTable& table = *model_.tables()[t].table;
  const auto source =
      numbered(table, rule.source, [&](const RuleToken& token) { return table.find_label(token.text); });
  const auto target = numbered(table, rule.target,
                               [](const RuleToken& token) { return static_cast<Symbol>(token.index - 1); });
  const LabelId lhs = table.find_label(rule.lhs);
  if (!source || !target || lhs == kNoLabel) return;
  NodeId node = RuleTable::kRoot;
  for (const Symbol symbol : *source) {
    node = table.child(node, symbol);
    if (node == RuleTable::kNoNode) return;
  }
  RuleRecord record;
  for (const RuleGroup& group : table.groups(node)) {
    if (group.lhs != lhs) continue;
    for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
      table.record(id, record);
      if (record.target == *target) rules_[t].push_back(id);
    }
  }
}

bool HiddenRules::hides(std::size_t table, RuleId rule) const {
  return table < rules_.size() && std::ranges::binary_search(rules_[table], rule);
}

bool HiddenRules::hides_all(std::string_view word) const {
  bool found = false;
  for (std::size_t t = 0; any_ && t < rules_.size(); ++t) {
    const RuleTable& table = *model_.tables()[t].table;
    const WordId id = table.find_word(word);
    const NodeId node = id == kNoWord ? RuleTable::kNoNode : table.child(RuleTable::kRoot, id);
    if (node == RuleTable::kNoNode) continue;
    for (const RuleGroup& group : table.groups(node)) {
      for (RuleId rule = group.first_rule; rule < group.first_rule + group.count; ++rule) {
        if (!hides(t, rule)) return false;
        found = true;
      }
    }
  }
  return found;
}

void HiddenRules::drop(Matches& matches) const {
  std::vector<char> is_empty(matches.target_sets.size(), 0);
  for (std::size_t s = 0; s < matches.target_sets.size(); ++s) {
    TargetSet& set = matches.target_sets[s];
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < set.size(); ++i) {
      const std::uint32_t slot = matches.slot(set, i);
      if (!hides(set.table, set.group.first_rule + slot)) slots.push_back(slot);
    }
    is_empty[s] = slots.empty();
    if (slots.empty() || slots.size() == set.size()) continue;
    set.first_slot = static_cast<std::uint32_t>(matches.slots.size());
    set.slot_count = static_cast<std::uint32_t>(slots.size());
    matches.slots.insert(matches.slots.end(), slots.begin(), slots.end());
  }
  UselessCells useless;
  keep_applications(matches, useless,
                    [&](const Application& application) { return !is_empty[application.targets]; });
}

}  // namespace hiero
