// Bottom-up search over the matches of a sentence: per cell one priority queue of partial hypotheses. A
// partial hypothesis is a rule with a trie node (vertex.h) for each nonterminal; popping the best one reveals
// a few more boundary words of one nonterminal, which splits it into the best continuation and the rest. LM
// scores are thus computed only for what is popped, and shared by all items that agree on the words seen.
// Complete hypotheses recombine on the exact joint LM state.
//
// A split point of a hypothesis is where its first nonterminal ends. With Keep::kSplits, once a cell's items
// are pruned, the best that waits is completed for every split point of which nothing was (Zhai et al. 2015,
// section 3.2.3). Each becomes an item of its own that no larger span uses, so that search goes the same way.
//
// How to use: run() once per sentence after matching, scoring and the coarse pass; the search space that it
// returns holds until the next run and the arena's reset.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/budget.h"
#include "hiero/decode/coarse.h"
#include "hiero/decode/matches.h"
#include "hiero/decode/options.h"
#include "hiero/decode/queue.h"
#include "hiero/decode/search_space.h"
#include "hiero/decode/targets.h"
#include "hiero/decode/vertex.h"

namespace hiero {

class Search {
 public:
  Search(const TranslationModel& model, Arena& arena);

  // Unless nothing is kept, recombined edges and all items are, not only what the best derivations need.
  const SearchSpace& run(const Matches& matches, SentenceTargets& targets, const CoarsePass& coarse,
                         const Weights& weights, const DecoderOptions& options, Keep keep);

 private:
  struct Position {  // a trie node, or what is left of its children from `index` on
    VertexNode* node;
    std::uint32_t index;

    double bound() const { return index == 0 ? node->bound : node->children[index].bound; }
    bool complete() const { return node->is_leaf(); }
  };
  struct Partial {
    double score;
    const TargetSide* side;
    Partial* next_free;
    std::uint32_t application;
    std::uint32_t slot;
    std::uint32_t size_class;  // it has room for so many incomplete nonterminals
    std::uint32_t incomplete;  // nonterminals that are not leaves yet
    // Followed by side->arity positions, in target order, and (size_class + 1) * lms states: what is known
    // around the incomplete nonterminals.
  };
  // What waits in the queue, by arrival number: a partial hypothesis, or an application to be opened
  // with its target number `position`.
  struct Waiting {
    Partial* partial = nullptr;
    std::uint32_t application = 0;
    std::uint32_t position = 0;
  };

  void search_cell(CellId id);
  void push_application(std::uint32_t application, std::uint32_t position);
  Partial* open(const Waiting& waiting);
  Partial* allocate(std::uint32_t arity, std::uint32_t incomplete);
  void release(Partial* partial);
  Partial*& free_list(std::uint32_t arity, std::uint32_t incomplete) {
    return free_[arity * (kMaxArity + 1) + incomplete];
  }
  static Position* positions(Partial* partial) { return reinterpret_cast<Position*>(partial + 1); }
  static ChartState* states(Partial* partial) {
    return reinterpret_cast<ChartState*>(positions(partial) + partial->side->arity);
  }
  bool expand(Partial* partial);
  Partial* copy(Partial* partial, std::uint32_t victim, Position position, double score);
  double reveal(Partial* partial, std::uint32_t before, const VertexNode& known, const VertexNode& node);
  void push(double score, const Waiting& waiting);
  void accept(CellId cell, Partial* partial);
  void add_edge(Item& item, Partial* partial, std::uint32_t next);
  std::uint32_t add_tails(Partial* partial);
  ItemId add_item(CellId cell, const ChartState* states);
  ItemId find_or_add(CellId cell, const ChartState* states, bool& added);
  std::uint32_t* find_slot(const ChartState* states);
  void finish_cell(CellId id);
  std::uint32_t split_of(std::uint32_t application) const;
  void complete_splits(CellId id);
  void finish_goal();

  const TranslationModel& model_;
  Arena& arena_;
  std::size_t lms_;
  VertexBuilder vertices_;
  std::vector<ChartState> blank_states_;
  VertexNode blank_{};  // reveals nothing

  const Matches* matches_ = nullptr;
  SentenceTargets* targets_ = nullptr;
  const Weights* weights_ = nullptr;
  const DecoderOptions* options_ = nullptr;
  Keep keep_ = Keep::kNone;

  SearchSpace space_;
  std::vector<VertexNode*> roots_;  // by cell
  HypothesisBudget budget_;

  // State of the cell being searched.
  ArrivalQueue queue_;
  std::vector<Waiting> waiting_;
  double best_in_cell_ = 0;
  double least_in_cell_ = 0;
  std::uint32_t first_item_ = 0;
  std::size_t first_edge_ = 0;
  std::vector<std::uint32_t> slots_;  // recombination: open addressing over the cell's items
  std::vector<std::uint8_t> wanted_;  // by split point of the cell: nothing is complete yet
  std::array<Partial*, (kMaxArity + 1) * (kMaxArity + 1)> free_{};  // by arity and room
};

}  // namespace hiero
