// The items of the cell that is being searched. Complete hypotheses with the same state in every language
// model recombine: nothing outside the cell can tell them apart, so they become edges into one item, whose
// score is that of the best of them. Items are found by a hash table over their states.
//
// How to use: start() a cell, add() its complete hypotheses, then finish() sorts and prunes the items.
// add_apart() makes an item for one hypothesis that finish() does not count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/partial_hypotheses.h"
#include "hiero/decode/search_context.h"
#include "hiero/decode/search_space.h"

namespace hiero {

class CellItems {
 public:
  // Items and edges are added to `space`; their states and the sorted ids lie in the arena.
  CellItems(SearchSpace& space, std::size_t lms, Arena& arena) : space_(space), lms_(lms), arena_(arena) {}

  void start(CellId cell);
  // Recombines a complete hypothesis. With Keep::kNone an item has its best edge alone, else all edges.
  void add(const SearchContext& context, const PartialHypothesis& hypothesis);
  // Makes an item of a complete hypothesis even where one with the same states is there.
  ItemId add_apart(const PartialHypothesis& hypothesis);
  // The best score of the cell minus the beam threshold: what is worse is pruned.
  double threshold() const { return threshold_; }
  // The edges added since start().
  std::span<const SearchEdge> edges() const { return std::span(space_.edges).subspan(first_edge_); }
  // The number of items since start().
  std::size_t size() const { return space_.items.size() - first_item_; }
  // The items within the threshold and the beam size, best first, ties by id. At least one if there are any.
  std::span<const ItemId> finish(const DecoderOptions& options);

 private:
  ItemId find_or_add(const ChartState* states);
  ItemId add_item(const ChartState* states);
  ItemId* find_slot(const ChartState* states);
  void add_edge(Item& item, const PartialHypothesis& hypothesis, std::uint32_t next);
  std::uint32_t add_tails(const PartialHypothesis& hypothesis);

  SearchSpace& space_;
  std::size_t lms_;
  Arena& arena_;
  CellId cell_ = kNoCell;
  double best_score_ = 0;
  double threshold_ = 0;
  ItemId first_item_ = 0;
  std::size_t first_edge_ = 0;
  std::vector<ItemId> slots_;  // open addressing over the cell's items
};

}  // namespace hiero
