// The objective of minimum risk training and its gradient (Li and Eisner 2009, section 7): over sentences,
//   sum of R(p) - T H(p),  p(d) = exp(gamma theta . h(d)) / Z,
// R being the expected loss and H the entropy over the derivations of a sentence's forest. The loss is a
// weighted sum of counts, such as words and matches, whose expectations are summed as well, for losses that
// are no sums over sentences. Both derivatives are covariances, so that one pass in E_{P,R} serves for both:
//   grad_theta (R - T H) = gamma Cov[h, L + T s],  s = gamma theta . h;
//   d/d gamma = theta . grad_theta / gamma.
//
// How to use: a ForestSource of the sentences, and what counts at their edges, one after the other; then
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

// What counts at each edge, row by row; those of a sentence from offsets[sentence] on.
struct EdgeCounts {
  std::span<const float> values;          // (edges, columns)
  std::span<const std::int64_t> offsets;  // sentences + 1
  std::size_t columns;
};

struct RiskOptions {
  double gamma = 1;
  double temperature = 0;
  bool gradient = true;  // if not, expectations and entropy alone, which is faster
  std::size_t threads = 1;
};

struct RiskSum {
  std::vector<double> counts;  // expected, by column
  double entropy = 0;
  double gamma = 0;              // derivative in gamma
  std::vector<double> gradient;  // in theta, by feature; empty if not asked for
};

// `loss` weighs the columns of the counts. A sentence without derivation adds nothing. Throws
// std::invalid_argument for counts that do not fit, weights that are not one a feature, and scores that
// Distribution refuses; ForestError as the source does.
RiskSum minimum_risk(const ForestSource& forests, const EdgeCounts& counts, std::span<const double> loss,
                     std::span<const double> weights, const RiskOptions& options);

}  // namespace hiero
