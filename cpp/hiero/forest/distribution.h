// The distribution over the derivations of a forest, p(d) = exp(sum of edge scores) / Z: posteriors of edges
// and nodes, and expectations, covariances and gradients of any additive quantity (Li and Eisner 2009).
//
// Two passes. The upward one sums inside values as Scaled numbers, so that derivation weights may be of any
// size, and divides them into the share of every edge in its head. The downward one computes posteriors, in
// doubles in [0, 1] from then on:
//   share(e) = w_e prod_u inside(u) / inside(head),  p(e) = p(head) share(e),  p(u) = sum over places of u.
// Expectations given an edge take two more passes, which are inside and outside in E_{P,R} divided by p:
// convex combinations, so that nothing cancels.
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
  // Natural logs of inside and outside values by node. The outside pass takes the scores once more.
  std::vector<double> log_inside() const;
  std::vector<double> log_outside(std::span<const double> scores) const;
  // The probability of an edge among those with the same head, given that the head is used.
  const std::vector<double>& shares() const { return shares_; }
  // Expected number of uses of an edge or a node in a derivation: its posterior, or more than 1 where a
  // derivation can use it several times.
  const std::vector<double>& edges() const { return edges_; }
  const std::vector<double>& nodes() const { return nodes_; }

  // Returns p(e) E[r(d) | e] for every edge, for r(d) = sum of r[e] over the edges of d. The derivative of
  // E[r] in the log of e's weight is this minus p(e) E[r]. A derivation that uses e twice counts twice.
  std::vector<double> edge_expectations(std::span<const double> r) const;
  // Returns p(e) E[r(d)^2 | e] for every edge; the derivative of E[r^2] in the log of e's weight is this
  // minus p(e) E[r^2]. A derivation that uses e twice counts twice. An inside and an outside pass with first
  // and second moments.
  std::vector<double> edge_second_moments(std::span<const double> r) const;

 private:
  const Hypergraph& forest_;
  std::vector<Scaled> inside_;
  std::vector<double> shares_;
  std::vector<double> edges_;
  std::vector<double> nodes_;
};

}  // namespace hiero
