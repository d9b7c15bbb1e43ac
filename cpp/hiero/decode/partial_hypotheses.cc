#include "hiero/decode/partial_hypotheses.h"

#include <algorithm>
#include <cstddef>

namespace hiero {
namespace {

struct Victim {
  std::uint32_t vertex;  // in target order
  std::uint32_t before;  // incomplete nonterminals before it
};

// Picks the incomplete nonterminal with the fewest words revealed, the first of several.
Victim pick_victim(const PartialHypothesis& partial) {
  Victim victim{0, 0};
  std::uint32_t least = ~std::uint32_t{0};
  for (std::uint32_t i = 0, before = 0; i < partial.side->arity; ++i) {
    const PartialVertex& vertex = partial.vertices()[i];
    if (vertex.is_complete()) continue;
    if (vertex.node->depth < least) {
      least = vertex.node->depth;
      victim = {i, before};
    }
    ++before;
  }
  return victim;
}

}  // namespace

PartialHypotheses::PartialHypotheses(const TranslationModel& model, Vertices& vertices, Arena& arena)
    : model_(model), vertices_(vertices), arena_(arena), lms_(model.lms().size()), blank_states_(lms_) {
  for (ChartState& state : blank_states_) {
    state.left.length = 0;
    state.left.full = false;
    state.right.length = 0;
  }
  blank_.states = blank_states_.data();
}

PartialHypothesis* PartialHypotheses::open(const SearchContext& context, std::uint32_t application,
                                           std::uint32_t position) {
  const Application& matched = context.matches.applications[application];
  const Target& target = context.targets.target(application, position);
  const TargetSide& side = context.targets.side(matched, target.slot);
  const std::span<const CellId> tails = context.matches.tails(matched);
  PartialHypothesis* partial = allocate(side.arity, side.arity);
  partial->side = &side;
  partial->application = application;
  partial->slot = target.slot;
  partial->incomplete = side.arity;
  partial->score = target.score + context.targets.offset(application) + side.bos_change;
  PartialVertex* const vertices = partial->vertices();
  for (std::uint32_t i = 0; i < side.arity; ++i) {
    partial->score += vertices_.root(tails[i])->bound;
    vertices[i] = {vertices_.root(tails[side.order[i]]), 0};
  }
  std::copy_n(side.chunks, (side.arity + 1u) * lms_, partial->states());
  // Cells of a single item have nothing to split.
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < side.arity; ++i) {
    if (vertices[i].is_complete()) {
      partial->score += reveal(context, *partial, before, blank_, *vertices[i].node);
    } else {
      ++before;
    }
  }
  return partial;
}

PartialHypothesis* PartialHypotheses::expand(const SearchContext& context, PartialHypothesis& partial) {
  const Victim victim = pick_victim(partial);
  PartialVertex& vertex = partial.vertices()[victim.vertex];
  VertexNode& node = *vertex.node;
  VertexNode* const children = vertices_.children(node);
  VertexNode& best = children[vertex.index];
  PartialHypothesis* rest = nullptr;
  if (vertex.index + 1 < node.child_count) {
    const PartialVertex others{&node, vertex.index + 1};
    rest = copy(partial);
    rest->vertices()[victim.vertex] = others;
    rest->score = partial.score + others.bound() - vertex.bound();
  }
  vertex = {&best, 0};
  partial.score += reveal(context, partial, victim.before, node, best);
  return rest;
}

// Adds the boundary words that `new_node` reveals of a nonterminal and `old_node` did not, and returns the
// change of score. The states on both sides of the nonterminal are numbers `before` and `before` + 1; they
// merge if it is a single item now.
double PartialHypotheses::reveal(const SearchContext& context, PartialHypothesis& partial,
                                 std::uint32_t before, const VertexNode& old_node,
                                 const VertexNode& new_node) {
  double change = 0;
  ChartState* const left = partial.states() + before * lms_;
  ChartState* const right = left + lms_;
  for (std::size_t k = 0; k < lms_; ++k) {
    const LanguageModel& lm = *model_.lms()[k];
    const ChartState& was = old_node.states[k];
    const ChartState& now = new_node.states[k];
    const bool was_full = old_node.right_full >> k & 1;
    const bool now_full = new_node.right_full >> k & 1;
    double sum = 0;
    if (now.left.length > was.left.length || (now.left.full && !was.left.full)) {
      sum += lm.reveal_left(left[k], now.left, was.left.length, lm_queries_);
    }
    if (now.right.length > was.right.length || (now_full && !was_full)) {
      sum += lm.reveal_right(now.right, was.right.length, now_full, right[k], lm_queries_);
    }
    if (new_node.is_leaf()) sum += lm.join(left[k], now, right[k], lm_queries_);
    change += context.weights.lm[k] * sum;
  }
  if (new_node.is_leaf()) {
    for (std::uint32_t i = before + 1; i < partial.incomplete; ++i)
      std::copy_n(partial.states() + (i + 1) * lms_, lms_, partial.states() + i * lms_);
    --partial.incomplete;
  }
  return change;
}

PartialHypothesis* PartialHypotheses::allocate(std::uint32_t arity, std::uint32_t incomplete) {
  PartialHypothesis*& head = free_list(arity, incomplete);
  PartialHypothesis* partial = head;
  if (partial) {
    head = partial->next_free;
  } else {
    const std::size_t bytes = sizeof(PartialHypothesis) + arity * sizeof(PartialVertex) +
                              (incomplete + 1u) * lms_ * sizeof(ChartState);
    partial = reinterpret_cast<PartialHypothesis*>(
        arena_.array<std::max_align_t>((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)));
  }
  partial->capacity = incomplete;
  return partial;
}

PartialHypothesis* PartialHypotheses::copy(const PartialHypothesis& partial) {
  const std::uint32_t arity = partial.side->arity;
  PartialHypothesis* out = allocate(arity, partial.incomplete);
  *out = partial;
  out->capacity = partial.incomplete;
  std::copy_n(partial.vertices(), arity, out->vertices());
  std::copy_n(partial.states(), (partial.incomplete + 1u) * lms_, out->states());
  return out;
}

}  // namespace hiero
