// The inside and outside algorithms over any semiring (Goodman 1999; Li and Eisner 2009, Figures 2 and 3).
//
//   inside(v)  = plus over edges e into v of  w_e times inside(u) for every tail u, in tail order
//   outside(u) = plus over every place of u among an edge's tails of
//                outside(head) times w_e times inside of the tails in the other places
//
// The product over other tails goes by place, not by node: an edge may have the same tail twice. Outside
// requires that times commutes; inside does not.
#pragma once

#include <vector>

#include "hiero/forest/hypergraph.h"
#include "hiero/forest/semiring.h"

namespace hiero {

// Returns the inside value of every node. weight(e) returns an edge's weight.
template <Semiring S, class Weight>
std::vector<typename S::Value> inside(const Hypergraph& forest, const S& semiring, const Weight& weight) {
  std::vector<typename S::Value> beta(forest.node_count(), semiring.zero());
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      typename S::Value product = weight(e);
      for (const NodeIndex u : forest.edge_tails(e)) product = semiring.times(product, beta[u]);
      beta[v] = semiring.plus(beta[v], product);
    }
  }
  return beta;
}

// Does the same for semirings with large values, with two temporary values in all. weight(e, a) assigns an
// edge's weight to a.
template <InPlaceSemiring S, class Weight>
std::vector<typename S::Value> inside_in_place(const Hypergraph& forest, const S& semiring,
                                               const Weight& weight) {
  std::vector<typename S::Value> beta(forest.node_count());
  typename S::Value sum = semiring.zero();
  typename S::Value product = semiring.zero();
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    semiring.set_zero(sum);
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      weight(e, product);
      for (const NodeIndex u : forest.edge_tails(e)) semiring.multiply(product, beta[u]);
      semiring.add(sum, product);
    }
    beta[v] = sum;
  }
  return beta;
}

// Returns the outside value of every node; zero for nodes that no derivation of the root uses.
template <Semiring S, class Weight>
std::vector<typename S::Value> outside(const Hypergraph& forest, const S& semiring, const Weight& weight,
                                       const std::vector<typename S::Value>& beta) {
  std::vector<typename S::Value> alpha(forest.node_count(), semiring.zero());
  if (forest.root < 0) return alpha;
  alpha[forest.root] = semiring.one();
  std::vector<typename S::Value> after;
  for (NodeIndex v = forest.root; v >= 0; --v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      const auto tails = forest.edge_tails(e);
      // after[i]: product of the tails behind position i; before: that of the rest of the edge.
      after.assign(tails.size(), semiring.one());
      for (std::size_t i = tails.size(); i-- > 1;) after[i - 1] = semiring.times(beta[tails[i]], after[i]);
      typename S::Value before = semiring.times(alpha[v], weight(e));
      for (std::size_t i = 0; i < tails.size(); ++i) {
        alpha[tails[i]] = semiring.plus(alpha[tails[i]], semiring.times(before, after[i]));
        if (i + 1 < tails.size()) before = semiring.times(before, beta[tails[i]]);
      }
    }
  }
  return alpha;
}

}  // namespace hiero
