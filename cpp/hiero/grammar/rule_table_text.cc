// The part of RuleTable (rule_table.h) that converts rules to strings and back.
#include <algorithm>
#include <stdexcept>

#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"

namespace hiero {

RuleId RuleTable::first_rule(NodeId node) const {
  while (true) {
    if (const auto node_groups = groups(node); !node_groups.empty()) return node_groups.front().first_rule;
    const auto [first, last] = children(node);
    if (first == last) throw_damaged("trie");
    node = first;
  }
}

Rule RuleTable::rule(RuleId id, const std::vector<std::string>& names) const {
  if (id >= rule_count())
    throw std::out_of_range("no rule " + std::to_string(id) + ", there are " + std::to_string(rule_count()));
  std::vector<Symbol> source;
  NodeId node = kRoot;
  while (true) {
    for (const RuleGroup& group : groups(node)) {
      if (id >= group.first_rule && id - group.first_rule < group.count)
        return rule(source, group.lhs, id, names);
    }
    // Rules are numbered depth first, so the rule is below the last child whose first rule is not after it.
    auto [first, last] = children(node);
    if (first == last) throw_damaged("trie");
    while (last - first > 1) {
      const NodeId middle = first + (last - first) / 2;
      (first_rule(middle) <= id ? first : last) = middle;
    }
    node = first;
    source.push_back(symbol(node));
  }
}

Rule RuleTable::rule(std::span<const Symbol> source, LabelId lhs, RuleId id,
                     const std::vector<std::string>& names) const {
  RuleRecord packed_rule;
  record(id, packed_rule);
  Rule out;
  out.lhs = labels_[lhs];
  std::vector<std::string> nonterminal_labels;
  for (Symbol s : source) {
    if (is_nonterminal(s)) {
      if (payload(s) >= labels_.size()) throw_damaged("label");
      nonterminal_labels.push_back(labels_[payload(s)]);
      out.source.push_back({nonterminal_labels.back(), static_cast<int>(nonterminal_labels.size())});
    } else {
      out.source.push_back({std::string(word(s)), 0});
    }
  }
  for (Symbol s : packed_rule.target) {
    if (!is_nonterminal(s)) {
      out.target.push_back({std::string(word(s)), 0});
    } else if (payload(s) < nonterminal_labels.size()) {
      out.target.push_back({nonterminal_labels[payload(s)], static_cast<int>(payload(s)) + 1});
    } else {
      throw_damaged("nonterminal of rule " + std::to_string(id));
    }
  }
  const std::span<const float> values = dense(id, 1);
  for (std::uint32_t f = 0; f < values.size(); ++f) {
    const bool absent = std::ranges::find(packed_rule.absent, f) != packed_rule.absent.end();
    if (!absent) out.features.emplace_back(names[f], values[f]);
  }
  for (const SparseFeature& feature : packed_rule.sparse)
    out.features.emplace_back(names[feature.feature], feature.value);
  for (const AlignmentLink& link : packed_rule.links) {
    out.links.emplace_back(static_cast<int>(link.source), static_cast<int>(link.target));
  }
  return out;
}

std::optional<Symbol> RuleTable::find_symbol(std::string_view token) const {
  const bool is_bracketed = token.size() > 2 && token.front() == '[' && token.back() == ']';
  if (is_bracketed) {
    const std::string_view inside = token.substr(1, token.size() - 2);
    const LabelId label = find_label(inside.substr(0, inside.rfind(',')));
    if (label == kNoLabel) return std::nullopt;
    return nonterminal(label);
  }
  const bool is_escaped = token.size() > 1 && token.front() == '\\' && escape(token.substr(1)) == token;
  const WordId id = find_word(is_escaped ? token.substr(1) : token);
  if (id == kNoWord) return std::nullopt;
  return id;
}

std::vector<Rule> RuleTable::lookup(std::span<const std::string> tokens) const {
  std::vector<Symbol> source;
  NodeId node = kRoot;
  for (const std::string& token : tokens) {
    const std::optional<Symbol> symbol = find_symbol(token);
    node = symbol ? child(node, *symbol) : kNoNode;
    if (node == kNoNode) return {};
    source.push_back(*symbol);
  }
  std::vector<Rule> out;
  const std::vector<std::string> names = feature_names();
  for (const RuleGroup& group : groups(node)) {
    for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id)
      out.push_back(rule(source, group.lhs, id, names));
  }
  return out;
}

void RuleTable::write_text(const std::function<void(std::string_view)>& write) const {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const std::vector<std::string> names = feature_names();
  std::string text;
  visit([&](std::span<const Symbol> source, std::span<const RuleGroup> groups) {
    for (const RuleGroup& group : groups) {
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
        text += format_rule(rule(source, group.lhs, id, names)) + "\n";
        if (text.size() <= kPieceBytes) continue;
        write(text);
        text.clear();
      }
    }
  });
  write(text);
}

}  // namespace hiero
