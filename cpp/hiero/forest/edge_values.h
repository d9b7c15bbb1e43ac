// Values by edge that add up over a derivation: model scores, target words, parts of the sentence covered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

// Checks that there is one value per edge, finite or, if allowed, -infinity. Throws std::invalid_argument.
void check_edge_values(const Hypergraph& forest, std::span<const double> values, bool minus_infinity,
                       const char* name);

// weights . features for every edge. Throws std::invalid_argument unless there is a weight per feature.
std::vector<double> edge_scores(const Forest& forest, std::span<const double> weights);

// Adds to `sums`, one per feature, the sum over edges of factor times feature row: sum_e factors[e] h_e.
// Touches only features that occur. Throws std::invalid_argument unless there is a factor per edge.
void add_weighted_features(const Forest& forest, std::span<const double> factors, std::span<double> sums);

// Number of target words that an edge's own rule makes.
std::int32_t rule_words(const Hypergraph& forest, EdgeIndex e);

// The part of the sentence that each edge's own rule covers: its span less those of its tails, in words, by
// the number of words of the root's span. A derivation's sum is 1, a partial one's its share.
std::vector<double> covered_shares(const Hypergraph& forest);

}  // namespace hiero
