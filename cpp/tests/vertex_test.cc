// The trie of a cell's items against its definition: children share out a node's items, best first, and what
// a node reveals is all that its items agree on. Usage: vertex_test [cases = 2000] [seed = 1]
#include "hiero/decode/vertex.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "cases.h"
#include "random_states.h"

namespace hiero {
namespace {

struct Cell {
  std::vector<ChartState> states;
  std::vector<Item> items;
  std::size_t lms;
};

// Words at both ends that all items of the node have in common, and whether these are all that they have.
struct Common {
  unsigned left, right;
  bool left_full, right_full;
};

Common in_common(const Cell& cell, const VertexNode& node, std::size_t lm) {
  const ChartState& first = cell.items[node.items[0]].states[lm];
  Common common{first.left.length, first.right.length, first.left.full, first.left.full};
  for (std::uint32_t i = 1; i < node.item_count; ++i) {
    const ChartState& state = cell.items[node.items[i]].states[lm];
    const auto left = std::mismatch(first.left.pointers, first.left.pointers + common.left,
                                    state.left.pointers, state.left.pointers + state.left.length);
    const auto right = std::mismatch(first.right.words, first.right.words + common.right, state.right.words,
                                     state.right.words + state.right.length);
    common.left = static_cast<unsigned>(left.first - first.left.pointers);
    common.right = static_cast<unsigned>(right.first - first.right.words);
  }
  for (std::uint32_t i = 0; i < node.item_count; ++i) {
    const ChartState& state = cell.items[node.items[i]].states[lm];
    common.left_full &= state.left.full && state.left.length == common.left;
    common.right_full &= state.left.full && state.right.length == common.right;
  }
  return common;
}

bool reveals_what_is_common(const Cell& cell, const VertexNode& node) {
  std::uint32_t right_full = 0;
  for (std::size_t k = 0; k < cell.lms; ++k) {
    const Common common = in_common(cell, node, k);
    const ChartState& found = node.states[k];
    const ChartState& first = cell.items[node.items[0]].states[k];
    if (found.left.length != common.left || found.right.length != common.right) return false;
    if (found.left.full != common.left_full) return false;
    if (!std::equal(first.left.pointers, first.left.pointers + common.left, found.left.pointers))
      return false;
    if (!std::equal(first.right.words, first.right.words + common.right, found.right.words)) return false;
    right_full |= std::uint32_t{common.right_full} << k;
  }
  return node.right_full == right_full;
}

bool good(const Cell& cell, Vertices& vertices, VertexNode& node, bool is_root) {
  if (node.bound != cell.items[node.items[0]].score) return false;
  if (!std::is_sorted(node.items, node.items + node.item_count)) return false;
  // The root reveals nothing before it is split, so that it stands for its cell whatever is in it.
  if ((!is_root || node.is_leaf()) && !reveals_what_is_common(cell, node)) return false;
  if (node.is_leaf()) return true;
  VertexNode* const children = vertices.children(node);
  if (vertices.children(node) != children || node.children != children) return false;  // made once
  std::multiset<ItemId> below;
  for (std::uint32_t c = 0; c < node.child_count; ++c) {
    VertexNode& child = children[c];
    if (c > 0 && child.bound > children[c - 1].bound) return false;
    below.insert(child.items, child.items + child.item_count);
    if (!good(cell, vertices, child, false)) return false;
  }
  return below == std::multiset<ItemId>(node.items, node.items + node.item_count);
}

// Items differ in their states, as recombination leaves them.
Cell random_cell(Random& random) {
  Cell cell;
  cell.lms = 1 + below(random, 2);
  std::size_t count = 0;
  for (std::size_t n = 1 + below(random, 12); n > 0; --n) {
    for (std::size_t k = 0; k < cell.lms; ++k) cell.states.push_back(random_state(random));
    bool is_new = true;
    for (std::size_t other = 0; other < count; ++other)
      is_new &= !same_states(&cell.states[other * cell.lms], &cell.states[count * cell.lms], cell.lms);
    if (is_new) {
      ++count;
    } else {
      cell.states.resize(count * cell.lms);
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    cell.items.push_back({-static_cast<double>(i / 2), &cell.states[i * cell.lms], 0});
  return cell;
}

int run(std::size_t cases, std::uint64_t seed) {
  Arena arena;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    const Cell cell = random_cell(random);
    std::vector<ItemId> order(cell.items.size());
    std::iota(order.begin(), order.end(), ItemId{0});
    Vertices vertices(cell.items, cell.lms, arena);
    vertices.clear(2);
    if (vertices.root(1)) return 1;
    vertices.add(1, order);
    VertexNode* root = vertices.root(1);
    if (vertices.root(0) || root->item_count != order.size() || !good(cell, vertices, *root, true)) {
      std::printf("vertex_test: case %zu is not as defined\n", i);
      return 1;
    }
    arena.reset();
  }
  std::printf("vertex_test: %zu cases\n", cases);
  return 0;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 2000, hiero::run); }
