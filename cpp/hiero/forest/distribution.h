// The distribution over derivations that edge scores make of a forest: p(d) = exp(sum of scores) / Z. What
// follows from it for edges and nodes, and from those the expectations, covariances and gradients of any
// additive quantity (Li and Eisner 2009).
//
// Two passes. Upwards, inside sums over Scaled numbers, so that derivation weights may be of any size, and
// for every edge the share it has in its head. Downwards, from then on in plain doubles in [0, 1],
// posteriors:
//   share(e) = w_e prod_u inside(u) / inside(head),  p(e) = p(head) share(e),  p(u) = sum over places of u.
// Expectations given an edge take two passes more, which are those of inside and outside in E_{P,R} divided
// by p: convex combinations, so that nothing cancels.
//
// How to use: Distribution p(forest, scores); p.edges()[e]; sum_e p.edges()[e] * r_e is the expected r.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/hypergraph.h"
#include "hiero/forest/scaled.h"

namespace hiero {

class Distribution {
 public:
  // Throws std::invalid_argument unless there is a score per edge, each of at most Scaled::kMostLog in size
  // or -infinity, and a derivation of positive weight. The forest must outlive the object.
  Distribution(const Hypergraph& forest, std::span<const double> scores);

  const Hypergraph& forest() const { return forest_; }
  double log_z() const { return inside_[forest_.root].log_abs(); }
  const std::vector<Scaled>& inside() const { return inside_; }
  // Of an edge among those with the same head, given that the head is used.
  const std::vector<double>& shares() const { return shares_; }
  // How often an edge or a node is used in a derivation, on average. More than 1 where a derivation can use
  // it twice.
  const std::vector<double>& edges() const { return edges_; }
  const std::vector<double>& nodes() const { return nodes_; }

  // For every edge p(e) E[r(d) | e]: with additive r = sum of r_e, the derivative of E[r] in the log of e's
  // weight is this minus p(e) E[r]. Where a derivation uses e twice, it counts twice.
  std::vector<double> edge_expectations(std::span<const double> r) const;
  // For every edge p(e) E[r(d)^2 | e]; the derivative of E[r^2] in the log of e's weight is this minus
  // p(e) E[r^2]. Uses count likewise. An inside and an outside pass with first and second moments.
  std::vector<double> edge_second_moments(std::span<const double> r) const;

 private:
  const Hypergraph& forest_;
  std::vector<Scaled> inside_;
  std::vector<double> shares_;
  std::vector<double> edges_;
  std::vector<double> nodes_;
};

}  // namespace hiero
