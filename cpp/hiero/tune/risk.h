// The objective of minimum risk training and its gradient (Li and Eisner 2009, section 7): over sentences,
//   sum of R(p) - T H(p),  p(d) = exp(gamma theta . h(d)) / Z,
// R being the expected loss and H the entropy over the derivations of a sentence's forest. Both derivatives
// are covariances, so that one pass in E_{P,R} serves for their sum:
//   grad_theta (R - T H) = gamma Cov[h, L + T s],  s = gamma theta . h;
//   d/d gamma = theta . grad_theta / gamma.
//
// How to use: a ForestSource of the sentences, the losses of all their edges one after the other; then
// minimum_risk for any weights. Sentences are taken in blocks of a fixed size, and the blocks' sums added in
// order, so that results are the same for any number of threads. A block adds to as many features as occur in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

// Forests with one index of features; read from several threads at once.
class ForestSource {
 public:
  virtual ~ForestSource() = default;
  virtual std::size_t size() const = 0;
  virtual std::shared_ptr<const Forest> forest(std::size_t sentence) const = 0;
};

struct RiskOptions {
  double gamma = 1;
  double temperature = 0;
  std::size_t threads = 1;
};

struct RiskSum {
  double risk = 0;
  double entropy = 0;
  double gamma = 0;              // derivative in gamma
  std::vector<double> gradient;  // in theta, by feature
};

// `losses` are of all edges, those of a sentence from loss_offsets[sentence] on. A sentence without
// derivation adds nothing. Throws std::invalid_argument for losses that do not fit, weights that are not one
// a feature, and scores that Distribution refuses; ForestError as the source does.
RiskSum minimum_risk(const ForestSource& forests, std::span<const double> losses,
                     std::span<const std::int64_t> loss_offsets, std::span<const double> weights,
                     const RiskOptions& options);

}  // namespace hiero
