// The hypergraph that a search has explored: items, each of which stands for all derivations of a cell with
// the same LM states; the edges into them; the items of each cell that survived pruning; and the goals.
// Filled by Search, read by ForestBuilder. The tails of an edge have smaller ids than its item.
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
  double score;              // of the best derivation
  const ChartState* states;  // one per LM
  std::uint32_t edge;        // the best edge into it, or the first of a list of all
};

// A target of a rule application over items of its antecedent cells.
struct SearchEdge {
  double score;  // of the best derivation with this edge on top
  std::uint32_t application;
  std::uint32_t slot;        // which of the application's targets
  std::uint32_t first_tail;  // in SearchSpace::edge_tails
  std::uint32_t next;        // another edge into the same item, or kNoEdge
};

// An item of the goal cell, scored as a whole sentence.
struct Goal {
  double score;
  ItemId item;
  const double* lm_scores;  // natural log of what <s> and </s> add, one per LM
};

struct SearchSpace {
  std::vector<Item> items;
  std::vector<CellId> item_cells;  // by item
  std::vector<SearchEdge> edges;
  std::vector<ItemId> edge_tails;
  std::vector<std::span<const ItemId>> survivors;  // by cell, best first
  std::vector<Goal> goals;                         // best first, ties by item
  std::vector<ItemId> completed;                   // items made only for a split point that had none
  std::uint64_t hypotheses = 0;                    // complete hypotheses made, without those of `completed`
  std::uint64_t lm_queries = 0;
  bool is_complete = true;  // every cell was searched to the end, and nothing was pruned
  bool was_late = false;    // the deadline passed meanwhile

  // The tails of an edge in source order; `arity` is that of its application.
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
    is_complete = true;
    was_late = false;
  }
};

}  // namespace hiero
