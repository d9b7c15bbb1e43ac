#include "hiero/decode/vertex.h"

#include <algorithm>
#include <bit>

namespace hiero {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // past the last word; minus 1 where the state is full
constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

std::uint64_t left_key(const ChartState& state, unsigned depth) {
  return depth < state.left.length ? state.left.pointers[depth] : kEnd - state.left.full;
}

std::uint64_t right_key(const ChartState& state, unsigned depth) {
  return depth < state.right.length ? state.right.words[depth] : kEnd - state.left.full;
}

std::uint64_t mix(std::uint64_t h) {
  h *= 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 32);
}

// Returns how many words two states have in common, at most `limit`; they agree on the first `depth`.
template <class Word>
unsigned common_length(const Word* a, const Word* b, unsigned depth, unsigned limit) {
  while (depth < limit && a[depth] == b[depth]) ++depth;
  return depth;
}

}  // namespace

void Vertices::add(CellId cell, std::span<const ItemId> items) {
  VertexNode* node = arena_.array<VertexNode>(1);
  *node = {items_[items[0]].score, nullptr, 0, 0, static_cast<std::uint32_t>(items.size()),
           items.data(),           nullptr, 0};
  roots_[cell] = node;
  if (node->is_leaf()) {
    reveal_all(*node);
    return;
  }
  ChartState* states = arena_.array<ChartState>(lms_);
  for (std::size_t k = 0; k < lms_; ++k) {
    states[k].left.length = 0;
    states[k].left.full = false;
    states[k].right.length = 0;
  }
  node->states = states;
}

void Vertices::split(VertexNode& node) {
  group_items(node, side_to_reveal(node));
  // Groups are in the order of their best items, and items within a group stay sorted.
  node.child_count = static_cast<std::uint32_t>(group_size_.size());
  node.children = arena_.array<VertexNode>(node.child_count);
  ItemId* const sorted = arena_.array<ItemId>(node.item_count);
  std::uint32_t first = 0;
  for (std::uint32_t g = 0; g < node.child_count; ++g) {
    node.children[g].items = sorted + first;
    node.children[g].item_count = group_size_[g];
    group_next_[g] = first;
    first += group_size_[g];
  }
  for (std::uint32_t i = 0; i < node.item_count; ++i) sorted[group_next_[group_of_[i]]++] = node.items[i];
  for (std::uint32_t g = 0; g < node.child_count; ++g) reveal_common(node, node.children[g]);
}

void Vertices::group_items(const VertexNode& node, Side side) {
  slots_.assign(std::bit_ceil(std::size_t{2} * node.item_count), kNoGroup);
  group_of_.resize(node.item_count);
  group_size_.clear();
  group_next_.clear();
  for (std::uint32_t i = 0; i < node.item_count; ++i) {
    const std::uint32_t group = find_group(node, side, item(node, i));
    if (group == group_size_.size()) {
      group_size_.push_back(0);
      group_next_.push_back(i);
    }
    ++group_size_[group];
    group_of_[i] = group;
  }
}

// Returns the group of items that have the same next word as `item`; the number of groups if there is none
// yet.
std::uint32_t Vertices::find_group(const VertexNode& node, Side side, const Item& item_of) {
  const auto key = [&](const Item& x, std::size_t k) {
    return side == Side::kLeft ? left_key(x.states[k], node.states[k].left.length)
                               : right_key(x.states[k], node.states[k].right.length);
  };
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < lms_; ++k) hash = mix(hash ^ key(item_of, k));
  for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at] == kNoGroup) {
      slots_[at] = static_cast<std::uint32_t>(group_size_.size());
      return slots_[at];
    }
    const Item& other = item(node, group_next_[slots_[at]]);
    bool same = true;
    for (std::size_t k = 0; k < lms_ && same; ++k) same = key(item_of, k) == key(other, k);
    if (same) return slots_[at];
  }
}

// Picks the side with fewer words revealed, unless the items already agree on all of it.
Vertices::Side Vertices::side_to_reveal(const VertexNode& node) const {
  bool left_differs = false;
  bool right_differs = false;
  unsigned left_words = 0;
  unsigned right_words = 0;
  for (std::size_t k = 0; k < lms_; ++k) {
    const unsigned left = node.states[k].left.length;
    const unsigned right = node.states[k].right.length;
    left_words += left;
    right_words += right;
    const ChartState& first = item(node, 0).states[k];
    const std::uint64_t first_left = left_key(first, left);
    const std::uint64_t first_right = right_key(first, right);
    for (std::uint32_t i = 1; i < node.item_count && !(left_differs && right_differs); ++i) {
      const ChartState& state = item(node, i).states[k];
      left_differs |= left_key(state, left) != first_left;
      right_differs |= right_key(state, right) != first_right;
    }
  }
  if (!left_differs) return Side::kRight;
  if (!right_differs) return Side::kLeft;
  return left_words <= right_words ? Side::kLeft : Side::kRight;
}

// Reveals all words of the node's one item.
void Vertices::reveal_all(VertexNode& node) {
  node.states = item(node, 0).states;
  for (std::size_t k = 0; k < lms_; ++k) node.right_full |= std::uint32_t{node.states[k].left.full} << k;
}

// Reveals in `node` all words that its items agree on. They agree at least on what `parent` reveals.
void Vertices::reveal_common(const VertexNode& parent, VertexNode& node) {
  node.right_full = 0;
  node.depth = 0;
  node.children = nullptr;
  node.child_count = 0;
  node.bound = item(node, 0).score;
  if (node.is_leaf()) {
    reveal_all(node);
    return;
  }
  ChartState* states = arena_.array<ChartState>(lms_);
  for (std::size_t k = 0; k < lms_; ++k) {
    ChartState& common = states[k];
    common = item(node, 0).states[k];
    unsigned left = common.left.length;
    unsigned right = common.right.length;
    bool same_left = true;
    bool same_right = true;
    for (std::uint32_t i = 1; i < node.item_count; ++i) {
      const ChartState& state = item(node, i).states[k];
      const bool same_end = state.left.full == common.left.full;
      same_left &= same_end && state.left.length == common.left.length;
      same_right &= same_end && state.right.length == common.right.length;
      left = common_length(state.left.pointers, common.left.pointers, parent.states[k].left.length,
                           std::min<unsigned>(left, state.left.length));
      right = common_length(state.right.words, common.right.words, parent.states[k].right.length,
                            std::min<unsigned>(right, state.right.length));
    }
    const bool right_full = same_right && common.left.full && right == common.right.length;
    common.left.full = same_left && common.left.full && left == common.left.length;
    common.left.length = static_cast<unsigned char>(left);
    common.right.length = static_cast<unsigned char>(right);
    node.right_full |= std::uint32_t{right_full} << k;
    node.depth += left + right;
  }
  node.states = states;
}

}  // namespace hiero
