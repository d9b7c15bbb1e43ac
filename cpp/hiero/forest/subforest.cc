#include "hiero/forest/subforest.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {

Hypergraph empty_copy(const Hypergraph& forest) {
  Hypergraph out;
  out.edge_offsets = {0};
  out.tail_offsets = {0};
  out.targets = forest.targets;
  out.ngram_order = forest.ngram_order;
  out.source = forest.source;
  out.source_nodes = forest.source_nodes;
  out.words = forest.words;
  out.labels = forest.labels;
  out.tables = forest.tables;
  return out;
}

void append_edge(Hypergraph& out, const Hypergraph& forest, EdgeIndex e) {
  out.tail_offsets.push_back(array_offset(out.tails.size()));
  out.edge_tables.push_back(forest.edge_tables[e]);
  out.edge_rules.push_back(forest.edge_rules[e]);
  out.edge_targets.push_back(forest.edge_targets[e]);
  out.edge_origins.push_back(e);
}

Hypergraph subforest(const Hypergraph& forest, std::span<const std::uint8_t> keep) {
  if (keep.size() != static_cast<std::size_t>(forest.edge_count()))
    throw std::invalid_argument("expected a mark per edge");
  // stays[e]: the edge and a derivation of every tail of it are kept.
  std::vector<std::uint8_t> stays(keep.begin(), keep.end());
  std::vector<std::uint8_t> derived(forest.node_count(), 0);
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      for (const NodeIndex u : forest.edge_tails(e)) stays[e] = stays[e] && derived[u];
      derived[v] = derived[v] || stays[e];
    }
  }
  Hypergraph out = empty_copy(forest);
  if (forest.root < 0 || !derived[forest.root]) return out;
  std::vector<NodeIndex> node_of(forest.node_count(), -1);
  node_of[forest.root] = 0;
  for (NodeIndex v = forest.root; v >= 0; --v) {
    if (node_of[v] < 0) continue;
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      if (!stays[e]) continue;
      for (const NodeIndex u : forest.edge_tails(e)) node_of[u] = 0;
    }
  }
  for (NodeIndex v = 0; v <= forest.root; ++v) {
    if (node_of[v] < 0) continue;
    node_of[v] = out.node_count();
    out.node_spans.insert(out.node_spans.end(), {forest.node_spans[2 * v], forest.node_spans[2 * v + 1]});
    out.node_labels.push_back(forest.node_labels[v]);
    const auto boundaries = forest.boundaries_of(v);
    out.node_boundaries.insert(out.node_boundaries.end(), boundaries.begin(), boundaries.end());
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      if (!stays[e]) continue;
      for (const NodeIndex u : forest.edge_tails(e)) out.tails.push_back(node_of[u]);
      append_edge(out, forest, e);
    }
    out.edge_offsets.push_back(out.edge_count());
  }
  out.root = out.node_count() - 1;
  return out;
}

Hypergraph prune_by_posterior(const Hypergraph& forest, std::span<const double> scores, double least) {
  if (forest.root < 0) return empty_copy(forest);
  const Distribution p(forest, scores);
  if (!(least >= 0)) throw std::invalid_argument("posterior: expected 0 or more");
  std::vector<std::uint8_t> keep;
  for (const double posterior : p.edges()) keep.push_back(posterior >= least);
  for (const EdgeIndex e : viterbi(forest, scores, forest.root)) keep[e] = 1;
  return subforest(forest, keep);
}

namespace {

// Returns for each edge how much worse than the best derivation of all the best one with this edge scores;
// infinity where there is none. Differences within the rounding of sums in another order are 0.
std::vector<double> score_gaps(const Hypergraph& forest, std::span<const double> scores) {
  check_edge_values(forest, scores, true, "scores");
  const TropicalSemiring costs;
  std::vector<double> out(scores.size(), costs.zero());
  if (forest.root < 0) return out;
  const auto weight = [&](EdgeIndex e) { return -scores[e]; };
  const std::vector<double> beta = inside(forest, costs, weight);
  const std::vector<double> alpha = outside(forest, costs, weight, beta);
  for (NodeIndex v = 0; v <= forest.root; ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double cost = alpha[v] + weight(e);
      for (const NodeIndex u : forest.edge_tails(e)) cost += beta[u];
      if (!(cost < costs.zero())) continue;
      const double rounding = 1e-12 * (std::abs(cost) + std::abs(beta[forest.root]));
      out[e] = std::max(0.0, cost - beta[forest.root] - rounding);
    }
  }
  return out;
}

Hypergraph within(const Hypergraph& forest, const std::vector<double>& gaps, double margin) {
  std::vector<std::uint8_t> keep;
  for (const double gap : gaps) keep.push_back(gap <= margin && std::isfinite(gap));
  return subforest(forest, keep);
}

}  // namespace

Hypergraph prune_by_margin(const Hypergraph& forest, std::span<const double> scores, double margin) {
  if (!(margin >= 0)) throw std::invalid_argument("margin: expected 0 or more");
  return within(forest, score_gaps(forest, scores), margin);
}

Hypergraph prune_by_count(const Hypergraph& forest, std::span<const double> scores, std::size_t edges) {
  const std::vector<double> gaps = score_gaps(forest, scores);
  std::vector<double> sorted = gaps;
  std::ranges::sort(sorted);
  // The greatest gap such that at most `edges` edges have this gap or a smaller one.
  double margin = sorted.empty() ? 0 : sorted.back();
  if (edges < sorted.size()) {
    // Edges of one derivation have the same gap up to rounding.
    const auto past = std::ranges::lower_bound(sorted, sorted[edges] * (1 - 1e-9));
    margin = past == sorted.begin() ? 0 : *(past - 1);
  }
  return within(forest, gaps, margin);
}

}  // namespace hiero
