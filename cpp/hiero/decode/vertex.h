// The items of a finished cell as a trie over their boundary words (Heafield, Koehn and Lavie 2013,
// "Grouping Language Model Boundary Words to Speed K-Best Extraction from Hypergraphs"). A node stands
// for all items that agree on the words revealed so far and is as good as the best of them; the root
// reveals nothing, a leaf is one item with its full state.
//
// How to use: clear() once per sentence; add() a cell when its items are final; then root() is where its
// hypotheses start, and children() goes one step down. Children are made on first use.
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

// The tries of all cells of a sentence.
class Vertices {
 public:
  // Item ids are indices into `items`, which may grow. Items of a cell must not change after its add().
  Vertices(const std::vector<Item>& items, std::size_t lms, Arena& arena)
      : items_(items), lms_(lms), arena_(arena) {}

  void clear(std::size_t cells) { roots_.assign(cells, nullptr); }
  // `items` are those of the cell, at least one, best first; the array must outlive the trie.
  void add(CellId cell, std::span<const ItemId> items);
  // The root of a cell's trie, or null before add().
  VertexNode* root(CellId cell) const { return roots_[cell]; }
  // The children of a node that is no leaf: its items grouped by one more word on the left or the right.
  VertexNode* children(VertexNode& node) {
    if (!node.children) split(node);
    return node.children;
  }

 private:
  enum class Side { kLeft, kRight };
  void split(VertexNode& node);
  void group_items(const VertexNode& node, Side side);
  std::uint32_t find_group(const VertexNode& node, Side side, const Item& item);
  Side side_to_reveal(const VertexNode& node) const;
  void reveal_all(VertexNode& node);
  void reveal_common(const VertexNode& parent, VertexNode& node);
  const Item& item(const VertexNode& node, std::uint32_t i) const { return items_[node.items[i]]; }

  const std::vector<Item>& items_;
  std::size_t lms_;
  Arena& arena_;
  std::vector<VertexNode*> roots_;  // by cell

  // Scratch of split().
  std::vector<std::uint32_t> group_of_;    // by position in node.items
  std::vector<std::uint32_t> group_size_;  // by group
  std::vector<std::uint32_t>
      group_next_;                    // by group: its first item's position; then where the next one goes
  std::vector<std::uint32_t> slots_;  // open addressing over groups
};

}  // namespace hiero
