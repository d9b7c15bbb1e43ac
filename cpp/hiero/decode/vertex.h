// The items of a finished cell as a trie over their boundary words (Heafield, Koehn and Lavie 2013,
// "Grouping Language Model Boundary Words to Speed K-Best Extraction from Hypergraphs"). A node stands
// for all items that agree on the words revealed so far and is as good as the best of them; the root
// reveals nothing, a leaf is one item with its full state. Children are made when first asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/search_space.h"
#include "hiero/lm/language_model.h"

namespace hiero {

struct VertexNode {
  double bound;              // score of the best item
  const ChartState* states;  // revealed so far, one per LM
  std::uint32_t right_full;  // bit k: nothing is left to reveal on the right for LM k
  std::uint32_t depth;       // boundary words revealed, left and right together
  std::uint32_t item_count;
  const ItemId* items;   // best first
  VertexNode* children;  // best first; nullptr until split
  std::uint32_t child_count;

  bool is_leaf() const { return item_count == 1; }
};

class VertexBuilder {
 public:
  VertexBuilder(std::size_t lms, Arena& arena) : lms_(lms), arena_(arena) {}

  // `items` indexes `all`, best first, and must stay as it is while the trie is used.
  VertexNode* root(std::span<const Item> all, std::span<const ItemId> items);
  // Makes the node's children: items grouped by one more word on the left or the right.
  void split(std::span<const Item> all, VertexNode& node);

 private:
  enum class Side { kLeft, kRight };
  Side side_to_reveal(std::span<const Item> all, const VertexNode& node) const;
  void become_leaf(std::span<const Item> all, VertexNode& node);
  void reveal_common(std::span<const Item> all, const VertexNode& parent, VertexNode& node);
  std::uint32_t find_group(std::span<const Item> all, const VertexNode& node, Side side, const Item& item);

  std::size_t lms_;
  Arena& arena_;
  std::vector<std::uint32_t> group_of_;  // by position in node.items
  std::vector<std::uint32_t> group_size_;
  std::vector<std::uint32_t> group_item_;  // position of a group's first item
  std::vector<std::uint32_t> slots_;       // open addressing over groups
};

}  // namespace hiero
