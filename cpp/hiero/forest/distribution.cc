#include "hiero/forest/distribution.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {
namespace {

// Probability mass, and the expectations over it of an additive quantity and of its square.
struct Moments {
  double mass = 0;
  double first = 0;
  double second = 0;
};

struct MomentSemiring {
  using Value = Moments;
  Value zero() const { return {}; }
  Value one() const { return {1, 0, 0}; }
  Value plus(const Value& a, const Value& b) const {
    return {a.mass + b.mass, a.first + b.first, a.second + b.second};
  }
  Value times(const Value& a, const Value& b) const {
    return {a.mass * b.mass, a.mass * b.first + a.first * b.mass,
            a.mass * b.second + 2 * a.first * b.first + a.second * b.mass};
  }
};

std::vector<double> logs(const std::vector<Scaled>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const Scaled value : values) out.push_back(value.log_abs());
  return out;
}

}  // namespace

Distribution::Distribution(const Hypergraph& forest, std::span<const double> scores)
    : forest_(forest),
      inside_(forest.node_count()),
      shares_(forest.edge_count()),
      edges_(forest.edge_count()),
      nodes_(forest.node_count()) {
  check_edge_values(forest, scores, true, "scores");
  for (std::size_t e = 0; e < scores.size(); ++e) {
    if (std::isinf(scores[e]) || std::abs(scores[e]) <= Scaled::kMostLog) continue;
    throw std::invalid_argument("scores: edge " + std::to_string(e) +
                                " has a log weight beyond 1e12; -infinity excludes an edge");
  }
  std::vector<Scaled> products;
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    const EdgeIndex begin = forest.edge_offsets[v];
    const EdgeIndex end = forest.edge_offsets[v + 1];
    products.clear();
    Scaled sum;
    for (EdgeIndex e = begin; e < end; ++e) {
      Scaled product = Scaled::exp(scores[e]);
      for (const NodeIndex u : forest.edge_tails(e)) product *= inside_[u];
      products.push_back(product);
      sum += product;
    }
    inside_[v] = sum;
    if (sum.is_zero()) continue;
    const Scaled inverse = Scaled(1) / sum;
    for (EdgeIndex e = begin; e < end; ++e) shares_[e] = (products[e - begin] * inverse).value();
  }
  if (forest.root < 0 || inside_[forest.root].is_zero()) {
    throw std::invalid_argument("the forest has no derivation of positive weight");
  }
  nodes_[forest.root] = 1;
  for (NodeIndex v = forest.root; v >= 0; --v) {
    if (nodes_[v] == 0) continue;
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      edges_[e] = nodes_[v] * shares_[e];
      for (const NodeIndex u : forest.edge_tails(e)) nodes_[u] += edges_[e];
    }
  }
}

std::vector<double> Distribution::log_inside() const { return logs(inside_); }

std::vector<double> Distribution::log_outside(std::span<const double> scores) const {
  const auto weight = [&](EdgeIndex e) { return Scaled::exp(scores[e]); };
  return logs(hiero::outside(forest_, ScaledSemiring(), weight, inside_));
}

std::vector<double> Distribution::edge_expectations(std::span<const double> r) const {
  check_edge_values(forest_, r, false, "values");
  // below[v]: expected r of the part of a derivation under v; within[e]: of the part from e downwards.
  std::vector<double> below(forest_.node_count(), 0.0);
  std::vector<double> within(forest_.edge_count(), 0.0);
  for (NodeIndex v = 0; v < forest_.node_count(); ++v) {
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      double sum = r[e];
      for (const NodeIndex u : forest_.edge_tails(e)) sum += below[u];
      within[e] = sum;
      below[v] += shares_[e] * sum;
    }
  }
  // above[v]: the sum over uses of v of their probability times the expected r of the rest of the derivation.
  std::vector<double> above(forest_.node_count(), 0.0);
  for (NodeIndex v = forest_.root; v >= 0; --v) {
    if (nodes_[v] == 0) continue;
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      const double rest = above[v] * shares_[e];
      for (const NodeIndex u : forest_.edge_tails(e)) above[u] += rest + edges_[e] * (within[e] - below[u]);
      within[e] = rest + edges_[e] * within[e];
    }
  }
  for (NodeIndex v = 0; v < forest_.node_count(); ++v) {
    if (nodes_[v] != 0) continue;
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) within[e] = 0;
  }
  return within;
}

std::vector<double> Distribution::edge_second_moments(std::span<const double> r) const {
  check_edge_values(forest_, r, false, "values");
  const MomentSemiring moments;
  // Shares of heads are weights, whose sums are 1 at every node.
  const auto weight = [&](EdgeIndex e) {
    return Moments{shares_[e], shares_[e] * r[e], shares_[e] * r[e] * r[e]};
  };
  const std::vector<Moments> beta = hiero::inside(forest_, moments, weight);
  const std::vector<Moments> alpha = hiero::outside(forest_, moments, weight, beta);
  std::vector<double> out(forest_.edge_count(), 0.0);
  for (NodeIndex v = 0; v < forest_.node_count(); ++v) {
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      Moments whole = moments.times(alpha[v], weight(e));
      for (const NodeIndex u : forest_.edge_tails(e)) whole = moments.times(whole, beta[u]);
      out[e] = whole.second;
    }
  }
  return out;
}

}  // namespace hiero
