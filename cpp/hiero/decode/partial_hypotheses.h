// Partial hypotheses, the edges in progress of Heafield, Koehn and Lavie (2013, "Grouping Language Model
// Boundary Words to Speed K-Best Extraction from Hypergraphs"). A partial hypothesis is a rule application
// with one of its targets and, for each nonterminal, a place in the trie of the antecedent cell (vertex.h).
// It stands for all combinations of the items below these places. Its score is that of
//   the rule + the best item below each place + what the language models add where the words revealed so far
//   meet the words of the rule and each other.
//
// open() reveals nothing except items that are alone in their cell. expand() reveals a few more boundary
// words of one nonterminal, the one with the fewest revealed: the hypothesis goes on with the best child of
// the trie node, and the node's other children become a second hypothesis. Once every place is a single item,
// the hypothesis is complete, and states() is its language model state.
//
// Why it is fast: a language model scores only the words that a step reveals, once for all items below; a
// hypothesis is one block of memory, as large as its nonterminals need, and is used again after release().
//
// How to use: clear() once per sentence, after the arena's reset. Then open() hypotheses, expand() each until
// it is complete, read it, and release() it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/search_context.h"
#include "hiero/decode/vertex.h"

namespace hiero {

// A trie node, or what is left of its children from `index` on.
struct PartialVertex {
  VertexNode* node;
  std::uint32_t index;

  double bound() const { return index == 0 ? node->bound : node->children[index].bound; }
  bool is_complete() const { return node->is_leaf(); }
};

// Its memory goes on behind the struct with vertices() and states().
struct PartialHypothesis {
  double score;
  const TargetSide* side;
  PartialHypothesis* next_free;
  std::uint32_t application;
  std::uint32_t slot;        // which of the application's targets
  std::uint32_t capacity;    // the incomplete nonterminals that it has room for
  std::uint32_t incomplete;  // nonterminals that are not a single item yet

  bool is_complete() const { return incomplete == 0; }
  // One per nonterminal, in target order.
  PartialVertex* vertices() { return reinterpret_cast<PartialVertex*>(this + 1); }
  const PartialVertex* vertices() const { return reinterpret_cast<const PartialVertex*>(this + 1); }
  // One per language model for each stretch between incomplete nonterminals, in target order: incomplete + 1
  // times the number of LMs.
  ChartState* states() { return reinterpret_cast<ChartState*>(vertices() + side->arity); }
  const ChartState* states() const { return reinterpret_cast<const ChartState*>(vertices() + side->arity); }
};

class PartialHypotheses {
 public:
  // The tries in `vertices` grow as hypotheses are expanded.
  PartialHypotheses(const TranslationModel& model, Vertices& vertices, Arena& arena);

  void clear() {
    free_.fill(nullptr);
    lm_queries_ = 0;
  }
  // An application with its target number `position`. All its antecedent cells must have items.
  PartialHypothesis* open(const SearchContext& context, std::uint32_t application, std::uint32_t position);
  // Reveals more of an incomplete hypothesis, which becomes the best of what it stood for. Returns the rest
  // as another hypothesis, or null where there is none.
  PartialHypothesis* expand(const SearchContext& context, PartialHypothesis& partial);
  // Makes its memory available for other hypotheses.
  void release(PartialHypothesis* partial) {
    PartialHypothesis*& head = free_list(partial->side->arity, partial->capacity);
    partial->next_free = head;
    head = partial;
  }
  // Queries since clear().
  std::uint64_t lm_queries() const { return lm_queries_; }

 private:
  PartialHypothesis* allocate(std::uint32_t arity, std::uint32_t incomplete);
  PartialHypothesis*& free_list(std::uint32_t arity, std::uint32_t incomplete) {
    return free_[arity * (kMaxArity + 1) + incomplete];
  }
  PartialHypothesis* copy(const PartialHypothesis& partial);
  double reveal(const SearchContext& context, PartialHypothesis& partial, std::uint32_t before,
                const VertexNode& old_node, const VertexNode& new_node);

  const TranslationModel& model_;
  Vertices& vertices_;
  Arena& arena_;
  std::size_t lms_;
  std::vector<ChartState> blank_states_;
  std::uint64_t lm_queries_ = 0;
  VertexNode blank_{};                                                        // reveals nothing
  std::array<PartialHypothesis*, (kMaxArity + 1) * (kMaxArity + 1)> free_{};  // by arity and capacity
};

}  // namespace hiero
