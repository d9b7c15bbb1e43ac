// All cells of a sentence after the search: a hypergraph of their items and the root, which of the items
// survived pruning, the items of each span under any label, and the best derivation of each split point. It
// can also score rules over antecedents that the search did not combine with them.
//
// The split point of a derivation is where the first nonterminal of its topmost rule ends. A unary rule,
// whose nonterminal is its whole span, has the split point of the derivation below it. Derivations without
// nonterminals have none.
//
// How to use: ForestBuilder::chart makes one. Immutable; it shares the model, and is independent of the
// sentence and the workspace that it was made from.
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
    std::vector<std::uint8_t> completed;  // by node: made only for a split point that had none
    std::vector<ChartState> states;       // by node but the root, one per LM
    std::vector<Symbol> lm_symbols;       // by target template, then LM: its symbols with the LM's words
  };
  struct Span {
    std::int32_t begin;
    std::int32_t end;
    auto operator<=>(const Span&) const = default;
  };
  // The best derivation of a split point: the edges in `top`, which are the unary rules on top and the rule
  // below them, and below that rule the best derivations of its tails.
  struct Split {
    std::int32_t place;  // the split point, a source position
    double score;
    std::vector<EdgeIndex> top;
  };

  explicit Chart(Parts parts);

  const std::shared_ptr<const Forest>& forest() const { return parts_.forest; }
  const std::vector<std::uint8_t>& survived() const { return parts_.survived; }
  const std::vector<std::uint8_t>& completed() const { return parts_.completed; }
  const TranslationModel& model() const { return *parts_.model; }
  const Weights& weights() const { return *parts_.weights; }
  // By edge: weights . features.
  const std::vector<double>& edge_scores() const { return edge_scores_; }
  // By node: the score of its best derivation.
  const std::vector<double>& scores() const { return best_.scores; }

  // The spans that have items, in order.
  std::vector<Span> spans() const;
  // The items of a span, best first, ties by node. The root is no item.
  std::vector<NodeIndex> nodes(Span span) const;
  // The items of a span that survived pruning, best first, at most `most`.
  std::vector<NodeIndex> survivors(Span span, std::size_t most) const;
  // The best item of a span, or -1 if it has none.
  NodeIndex best_node(Span span) const;
  // The split points of a span from left to right. Equal scores go to the smaller node, then edge.
  std::vector<Split> splits(Span span) const;
  // The edges of a node's best derivation in preorder.
  std::vector<EdgeIndex> derivation(NodeIndex node) const;
  EdgeIndex best_edge(NodeIndex node) const { return best_.edges[node]; }
  std::vector<EdgeIndex> derivation(const Split& split) const;

  Span span_of(NodeIndex node) const {
    return {graph().node_spans[2 * node], graph().node_spans[2 * node + 1]};
  }
  bool is_unary(EdgeIndex edge) const;
  // The states of an item, one per LM.
  const ChartState* states(NodeIndex node) const { return parts_.states.data() + node * lms_; }
  // The LM features of an edge if its tails had these states, one per LM for each tail. Writes the resulting
  // states to `states`, one per LM, except for an edge into the root.
  std::vector<double> lm_features(EdgeIndex edge, std::span<const ChartState* const> tails,
                                  ChartState* states) const;

 private:
  // Nodes [first, last) of one cell.
  struct Cell {
    Span span;
    NodeIndex first;
    NodeIndex last;
  };
  // For a node, the best edge for each split point and the score with it, by how far into the span it is.
  struct SplitRow {
    struct Best {
      double score;
      EdgeIndex edge;
    };
    NodeIndex node;
    std::vector<Best> best;
  };

  const Hypergraph& graph() const { return *parts_.forest->graph; }
  std::span<const Cell> cells_of(Span span) const;
  SplitRow split_row(NodeIndex node, const std::vector<SplitRow>& below) const;

  Parts parts_;
  std::size_t lms_;
  std::vector<double> edge_scores_;
  BestEdges best_;
  std::vector<Cell> cells_;  // by span
};

}  // namespace hiero
