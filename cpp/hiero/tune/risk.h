// The objective of minimum risk training and its gradient (Li and Eisner 2009, section 7): over sentences,
//   sum of R(p) - T H(p),  p(d) = exp(gamma theta . h(d)) / Z,
// where R is the expected loss and H the entropy over the derivations of a sentence's forest. The loss is a
// weighted sum of counts, such as words and matches. Their expectations are summed as well, for losses that
// are not sums over sentences. Both derivatives are covariances, so that one pass in E_{P,R} serves for both:
//   grad_theta (R - T H) = gamma Cov[h, L + T s],  s = gamma theta . h;
//   d/d gamma = theta . grad_theta / gamma.
//
// How to use: make a ForestSource of the sentences and EdgeCounts of all their edges, then call minimum_risk
// for any weights. Sentences are summed in blocks of a fixed size, and the blocks in order, so that results
// are the same for any number of threads. The cost of a block depends on the features that occur in it only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/tune/forest_source.h"

namespace hiero {

// The counts of every edge of every forest, row by row; rows of a sentence begin at offsets[sentence].
struct EdgeCounts {
  std::span<const float> values;          // (edges, columns)
  std::span<const std::int64_t> offsets;  // sentences + 1
  std::size_t columns;
};

struct RiskOptions {
  double gamma = 1;
  double temperature = 0;
  bool gradient = true;  // false: expected counts and entropy only, which is faster
  std::size_t threads = 1;
};

struct RiskSum {
  std::vector<double> counts;    // expected counts, by column
  double entropy = 0;            // nats
  double gamma = 0;              // derivative of R - T H in gamma
  std::vector<double> gradient;  // of R - T H in theta, by feature; empty without RiskOptions::gradient
};

// Sums over all sentences; R is the sum of expected counts times `loss`, which has a value per column. A
// sentence without derivations adds nothing. Throws std::invalid_argument for counts that do not fit, unless
// there is a weight per feature, and for scores that Distribution refuses; ForestError as the source does.
RiskSum minimum_risk(const ForestSource& forests, const EdgeCounts& counts, std::span<const double> loss,
                     std::span<const double> weights, const RiskOptions& options);

}  // namespace hiero
