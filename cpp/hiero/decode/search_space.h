// What a search went through: items, each the best way to derive a cell with certain LM states; the edges
// that make them; per cell the items that outlived pruning; and the goals. Filled by Search, read by whatever
// turns it into translations, forests or charts. The tails of an edge have smaller ids than its item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/lm/language_model.h"

namespace hiero {

using ItemId = std::uint32_t;

inline constexpr std::uint32_t kNoEdge = ~std::uint32_t{0};

struct Item {
  double score;
  const ChartState* states;  // one per LM
  std::uint32_t edge;        // the best edge into it, or the head of a list of all
};

// One way to make an item.
struct SearchEdge {
  double score;
  std::uint32_t application;
  std::uint32_t slot;        // which of the application's targets
  std::uint32_t first_tail;  // in SearchSpace::edge_tails
  std::uint32_t next;        // another edge into the same item
};

// An item of the goal cell, with what <s> and </s> add to its score.
struct Goal {
  double score;
  ItemId item;
  const double* lms;  // natural log of what they add, one per LM
};

struct SearchSpace {
  std::vector<Item> items;
  std::vector<CellId> item_cells;  // by item
  std::vector<SearchEdge> edges;
  std::vector<ItemId> edge_tails;
  std::vector<std::span<const ItemId>> survivors;  // by cell, best first
  std::vector<Goal> goals;                         // best first, ties by item
  std::vector<ItemId> completed;                   // items that were made for their split points alone
  std::uint64_t hypotheses = 0;                    // complete ones that were made, those of `completed` aside
  std::uint64_t lm_queries = 0;

  // In source order, as many as the edge's application has.
  std::span<const ItemId> tails(const SearchEdge& edge, std::uint32_t arity) const {
    return {edge_tails.data() + edge.first_tail, arity};
  }

  void clear(std::size_t cells) {
    items.clear();
    item_cells.clear();
    edges.clear();
    edge_tails.clear();
    survivors.assign(cells, {});
    goals.clear();
    completed.clear();
    hypotheses = 0;
    lm_queries = 0;
  }
};

}  // namespace hiero
