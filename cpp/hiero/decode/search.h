// Bottom-up search over the matches of a sentence, after the incremental search of Heafield, Koehn and Lavie
// (2013, "Grouping Language Model Boundary Words to Speed K-Best Extraction from Hypergraphs"). Each cell has
// one priority queue, of rule applications that are still to be opened and of partial hypotheses
// (partial_hypotheses.h). What is popped is expanded until it is complete or no longer the best; complete
// hypotheses recombine into the cell's items (cell_items.h), and a finished cell's items become a trie
// (vertex.h) that larger spans build on. Language model scores are thus computed only for what is popped, and
// shared by all items that agree on the words seen. How many hypotheses a cell makes is decided in budget.h.
//
// A split point of a hypothesis is where its first nonterminal ends. With Keep::kSplits, the search goes on
// in a cell whose items are pruned until every split point has a complete hypothesis (Zhai et al. 2015,
// section 3.2.3). These late hypotheses become items that no larger span uses, so that the other items do not
// change.
//
// How to use: run() once per sentence after matching, scoring and the coarse pass; the search space that it
// returns holds until the next run and the arena's reset.
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/budget.h"
#include "hiero/decode/cell_items.h"
#include "hiero/decode/partial_hypotheses.h"
#include "hiero/decode/queue.h"
#include "hiero/decode/search_context.h"
#include "hiero/decode/search_space.h"
#include "hiero/decode/vertex.h"

namespace hiero {

class Search {
 public:
  Search(const TranslationModel& model, Arena& arena);

  // With Keep::kNone, the search space has one edge per item, its best; else it has all edges.
  const SearchSpace& run(const SearchContext& context);

 private:
  // A partial hypothesis, or an application to be opened with its target number `position`.
  struct Waiting {
    PartialHypothesis* partial = nullptr;
    std::uint32_t application = 0;
    std::uint32_t position = 0;
  };

  void search_cell(const SearchContext& context, CellId cell);
  void push_application(const SearchContext& context, std::uint32_t application, std::uint32_t position);
  PartialHypothesis* open(const SearchContext& context, const Waiting& waiting);
  bool expand(const SearchContext& context, PartialHypothesis* partial);
  void complete_splits(const SearchContext& context, CellId cell);
  void score_goals(const SearchContext& context);

  Arena& arena_;
  SearchSpace space_;
  Vertices vertices_;
  PartialHypotheses hypotheses_;
  CellItems items_;
  HypothesisBudget budget_;
  ArrivalQueue<Waiting> queue_;            // of the cell being searched
  std::vector<std::uint8_t> wants_split_;  // by split point of the cell: nothing is complete yet
};

}  // namespace hiero
