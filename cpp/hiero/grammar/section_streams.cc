#include "hiero/grammar/section_streams.h"

namespace hiero {

NodeStreams::NodeStreams(ImageSink& sink, const packed::Header& header,
                         const std::vector<std::uint64_t>& nodes_at,
                         const std::vector<std::uint64_t>& groups_at)
    : sink_(sink), header_(header) {
  std::uint32_t node = 0;
  std::uint32_t group = 0;
  for (std::size_t depth = 0; depth < nodes_at.size(); ++depth) {
    levels_.push_back({SectionStream(sink, offset(packed::kSymbols, node, sizeof(Symbol))),
                       SectionStream(sink, offset(packed::kFirstChild, node, sizeof(NodeId))),
                       SectionStream(sink, offset(packed::kFirstGroup, node, sizeof(std::uint32_t))),
                       SectionStream(sink, offset(packed::kGroups, group, sizeof(RuleGroup))), node, group});
    node += static_cast<std::uint32_t>(nodes_at[depth]);
    group += static_cast<std::uint32_t>(groups_at[depth]);
  }
}

void NodeStreams::add_node(std::size_t depth, Symbol symbol) {
  close_group();
  Level& level = levels_[depth];
  level.symbols.put(symbol);
  const bool deepest = depth + 1 == levels_.size();
  level.first_child.put(deepest ? static_cast<NodeId>(header_.nodes) : levels_[depth + 1].next_node);
  level.first_group.put(level.next_group);
  ++level.next_node;
}

void NodeStreams::add_group(std::size_t depth, LabelId lhs, RuleId first_rule) {
  close_group();
  group_ = {lhs, first_rule, 0};
  group_depth_ = depth;
  ++levels_[depth].next_group;
}

void NodeStreams::close_group() {
  if (group_.count > 0) levels_[group_depth_].groups.put(group_);
  group_.count = 0;
}

void NodeStreams::finish() {
  close_group();
  for (Level& level : levels_) {
    level.symbols.flush();
    level.first_child.flush();
    level.first_group.flush();
    level.groups.flush();
  }
  const auto nodes = static_cast<std::uint32_t>(header_.nodes);
  const auto groups = static_cast<std::uint32_t>(header_.groups);
  sink_.write(offset(packed::kFirstChild, nodes, sizeof(NodeId)), &nodes, sizeof nodes);
  sink_.write(offset(packed::kFirstGroup, nodes, sizeof groups), &groups, sizeof groups);
}

}  // namespace hiero
