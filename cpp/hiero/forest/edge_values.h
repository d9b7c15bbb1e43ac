// Values of edges that add up over a derivation: model scores, target words, shares of the sentence covered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

// Checks that there is one value per edge, finite or, if allowed, -infinity. Throws std::invalid_argument.
void check_edge_values(const Hypergraph& forest, std::span<const double> values, bool minus_infinity,
                       const char* name);

// Returns weights . features for every edge. Throws std::invalid_argument unless there is a weight per
// feature.
std::vector<double> edge_scores(const Forest& forest, std::span<const double> weights);

// Adds to `sums`, one number per feature, the weighted feature rows of all edges: sum_e factors[e] h_e.
// Writes only to features that occur. Throws std::invalid_argument unless there is a factor per edge.
void add_weighted_features(const Forest& forest, std::span<const double> factors, std::span<double> sums);

// Counts the target words of an edge's rule, without those of its tails.
std::int32_t rule_words(const Hypergraph& forest, EdgeIndex e);
// Counts them for every edge.
std::vector<std::int32_t> rule_words(const Hypergraph& forest);

// Returns for each edge the share of the sentence that its rule covers: the width of its span less the widths
// of its tails' spans, divided by the width of the root's span. The sum over a derivation is 1, over a
// partial derivation the share of the sentence that it covers.
std::vector<double> covered_shares(const Hypergraph& forest);

}  // namespace hiero
