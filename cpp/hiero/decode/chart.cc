#include "hiero/decode/chart.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "hiero/forest/edge_values.h"

namespace hiero {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

Chart::Chart(Parts parts) : parts_(std::move(parts)), lms_(parts_.model->lms().size()) {
  const Hypergraph& forest = graph();
  edge_scores_ = hiero::edge_scores(*parts_.forest, parts_.weights->values);
  best_ = best_edges(forest, edge_scores_, forest.node_count() - 1);
  // The items of a cell are adjacent; the root, if there is one, is the last node.
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    if (v == forest.root) continue;
    const bool same_cell =
        v > 0 && span_of(v) == span_of(v - 1) && forest.node_labels[v] == forest.node_labels[v - 1];
    if (!same_cell) cells_.push_back({span_of(v), v, v});
    cells_.back().last = v + 1;
  }
  std::ranges::stable_sort(cells_, {}, &Cell::span);
}

std::vector<Chart::Span> Chart::spans() const {
  std::vector<Span> out;
  for (const Cell& cell : cells_) {
    if (out.empty() || out.back() != cell.span) out.push_back(cell.span);
  }
  return out;
}

std::span<const Chart::Cell> Chart::cells_of(Span span) const {
  return std::ranges::equal_range(cells_, span, {}, &Cell::span);
}

std::vector<NodeIndex> Chart::nodes(Span span) const {
  std::vector<NodeIndex> out;
  for (const Cell& cell : cells_of(span)) {
    for (NodeIndex v = cell.first; v < cell.last; ++v) out.push_back(v);
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [this](NodeIndex v) { return best_.scores[v]; });
  return out;
}

std::vector<NodeIndex> Chart::survivors(Span span, std::size_t most) const {
  std::vector<NodeIndex> out = nodes(span);
  std::erase_if(out, [this](NodeIndex v) { return !parts_.survived[static_cast<std::size_t>(v)]; });
  out.resize(std::min(out.size(), most));
  return out;
}

NodeIndex Chart::best_node(Span span) const {
  NodeIndex best = -1;
  for (const Cell& cell : cells_of(span)) {
    for (NodeIndex v = cell.first; v < cell.last; ++v) {
      if (best < 0 || best_.scores[v] > best_.scores[best]) best = v;
    }
  }
  return best;
}

bool Chart::is_unary(EdgeIndex edge) const {
  const auto tails = graph().edge_tails(edge);
  return tails.size() == 1 && span_of(tails[0]) == span_of(head_of(graph(), edge));
}

// Finds the best edge of a node for each split point. `below` are the rows of smaller nodes over the same
// span, sorted by node.
Chart::SplitRow Chart::split_row(NodeIndex node, const std::vector<SplitRow>& below) const {
  const Hypergraph& forest = graph();
  const Span span = span_of(node);
  const auto places = static_cast<std::size_t>(span.end - span.begin) + 1;
  SplitRow row{node, std::vector<SplitRow::Best>(places, {kNever, -1})};
  const auto consider = [&](std::size_t place, double score, EdgeIndex edge) {
    if (score > row.best[place].score) row.best[place] = {score, edge};
  };
  for (EdgeIndex e = forest.edge_offsets[node]; e < forest.edge_offsets[node + 1]; ++e) {
    const auto tails = forest.edge_tails(e);
    if (tails.empty()) continue;
    if (is_unary(e)) {
      const SplitRow& tail = *std::ranges::lower_bound(below, tails[0], {}, &SplitRow::node);
      for (std::size_t place = 0; place < places; ++place)
        consider(place, tail.best[place].score + edge_scores_[e], e);
    } else {
      double score = edge_scores_[e];
      for (const NodeIndex tail : tails) score += best_.scores[tail];
      consider(static_cast<std::size_t>(span_of(tails[0]).end - span.begin), score, e);
    }
  }
  return row;
}

std::vector<Chart::Split> Chart::splits(Span span) const {
  std::vector<SplitRow> rows;  // by node, as tails have smaller indices
  for (const Cell& cell : cells_of(span)) {
    for (NodeIndex v = cell.first; v < cell.last; ++v) rows.push_back(split_row(v, rows));
  }
  std::vector<Split> out;
  for (std::int32_t place = span.begin; place <= span.end; ++place) {
    const auto i = static_cast<std::size_t>(place - span.begin);
    const auto row =
        std::ranges::max_element(rows, {}, [i](const SplitRow& other) { return other.best[i].score; });
    if (row == rows.end() || row->best[i].edge < 0) continue;
    Split split{place, row->best[i].score, {row->best[i].edge}};
    while (is_unary(split.top.back())) {
      const NodeIndex tail = graph().edge_tails(split.top.back())[0];
      split.top.push_back(std::ranges::lower_bound(rows, tail, {}, &SplitRow::node)->best[i].edge);
    }
    out.push_back(std::move(split));
  }
  return out;
}

std::vector<EdgeIndex> Chart::derivation(NodeIndex node) const {
  return derivation_of(graph(), best_.edges, node);
}

std::vector<EdgeIndex> Chart::derivation(const Split& split) const {
  std::vector<EdgeIndex> out = split.top;
  for (const NodeIndex tail : graph().edge_tails(split.top.back())) {
    const std::vector<EdgeIndex> below = derivation(tail);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

std::vector<double> Chart::lm_features(EdgeIndex edge, std::span<const ChartState* const> tails,
                                       ChartState* states) const {
  const Hypergraph& forest = graph();
  const TranslationModel& model = *parts_.model;
  const NodeIndex head = head_of(forest, edge);
  std::uint64_t queries = 0;
  std::vector<double> out;
  if (head == forest.root) {
    for (std::size_t k = 0; k < lms_; ++k)
      out.push_back(model.lms()[k]->score_goal(tails[0][k], model.goal_has_bos(), queries));
  } else {
    // The condition of SentenceTargets::follows_bos.
    const auto is_goal = [&](NodeIndex v) {
      return model.is_goal(static_cast<LabelId>(forest.node_labels[v]));
    };
    const bool after_bos =
        model.goal_has_bos() && is_goal(head) && std::ranges::none_of(forest.edge_tails(edge), is_goal);
    const std::int32_t target = forest.edge_targets[edge];
    const auto first = static_cast<std::size_t>(forest.targets->offsets[target]);
    const std::size_t length = static_cast<std::size_t>(forest.targets->offsets[target + 1]) - first;
    for (std::size_t k = 0; k < lms_; ++k) {
      const ChartState* below[kMaxArity] = {};
      for (std::size_t i = 0; i < tails.size(); ++i) below[i] = tails[i] + k;
      const std::span<const Symbol> symbols(parts_.lm_symbols.data() + first * lms_ + k * length, length);
      out.push_back(model.lms()[k]->score_rule(symbols, below, after_bos, states[k], queries));
    }
  }
  for (std::size_t k = 0; k < lms_; ++k) out[k] *= model.scale(model.lm_feature(k));
  return out;
}

}  // namespace hiero
