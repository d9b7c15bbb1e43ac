// What search left in every cell of a sentence: a hypergraph of all items under the root, which of them
// outlived pruning, the items of each span whatever their label, and the best derivation of each split point.
// Also scores rules over antecedents that search did not put them over.
//
// A split point of a derivation is where the first nonterminal of its topmost rule ends; unary rules, whose
// nonterminal is all of their span, are looked through. Derivations without nonterminals have none.
//
// How to use: ForestBuilder::chart makes one. Immutable; it needs the model, but neither the sentence nor the
// workspace that it came from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hiero/decode/translation_model.h"
#include "hiero/decode/weights.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/forest.h"

namespace hiero {

class Chart {
 public:
  struct Parts {
    std::shared_ptr<const TranslationModel> model;
    std::shared_ptr<const Weights> weights;
    std::shared_ptr<const Forest> forest;
    std::vector<std::uint8_t> survived;   // by node
    std::vector<std::uint8_t> completed;  // by node: made for its split point alone
    std::vector<ChartState> states;       // by node but the root, one per LM
    std::vector<Symbol> lm_symbols;       // of each target template in turn, as the LMs number its words
  };
  struct Span {
    std::int32_t begin;
    std::int32_t end;
    auto operator<=>(const Span&) const = default;
  };
  // The best derivation of a split point: `top`, an edge for each unary rule on top and one for the rule
  // below them, over the best derivations of that one's tails.
  struct Split {
    std::int32_t place;  // a source position
    double score;
    std::vector<EdgeIndex> top;
  };

  explicit Chart(Parts parts);

  const std::shared_ptr<const Forest>& forest() const { return parts_.forest; }
  const std::vector<std::uint8_t>& survived() const { return parts_.survived; }
  const std::vector<std::uint8_t>& completed() const { return parts_.completed; }
  const TranslationModel& model() const { return *parts_.model; }
  const Weights& weights() const { return *parts_.weights; }
  // weights . features by edge, and of the best derivation by node.
  const std::vector<double>& edge_scores() const { return edge_scores_; }
  const std::vector<double>& scores() const { return best_.scores; }

  // Those with an item, in order.
  std::vector<Span> spans() const;
  // The items of a span, best first, ties by node; none where there is none. The root is no item.
  std::vector<NodeIndex> nodes(Span span) const;
  // Those of them that outlived pruning, so many at most.
  std::vector<NodeIndex> survivors(Span span, std::size_t most) const;
  // The first of its items, -1 where there is none.
  NodeIndex best_node(Span span) const;
  // In the order of their places. Equal scores go to the smaller node, then edge.
  std::vector<Split> splits(Span span) const;
  // The best derivation of a node, and the edge on top of it.
  std::vector<EdgeIndex> derivation(NodeIndex node) const;
  EdgeIndex best_edge(NodeIndex node) const { return best_.edges[node]; }
  std::vector<EdgeIndex> derivation(const Split& split) const;

  Span span_of(NodeIndex node) const {
    return {graph().node_spans[2 * node], graph().node_spans[2 * node + 1]};
  }
  bool is_unary(EdgeIndex edge) const;
  // Of a node but the root, one per LM.
  const ChartState* states(NodeIndex node) const { return parts_.states.data() + node * lms_; }
  // The LM features of an edge if these were the states of its tails, each one per LM; writes the states that
  // it comes to, one per LM, but for an edge into the root.
  std::vector<double> lm_features(EdgeIndex edge, std::span<const ChartState* const> tails,
                                  ChartState* states) const;

 private:
  const Hypergraph& graph() const { return *parts_.forest->graph; }
  // Nodes [first, last) of one cell.
  struct Cell {
    Span span;
    NodeIndex first;
    NodeIndex last;
  };

  std::span<const Cell> cells_of(Span span) const;

  Parts parts_;
  std::size_t lms_;
  std::vector<double> edge_scores_;
  BestEdges best_;
  std::vector<Cell> cells_;  // by span
};

}  // namespace hiero
