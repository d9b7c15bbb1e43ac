// Values of edges whose best derivation is a decision by the whole distribution, not by its single best
// derivation. Both want a forest annotated with n-grams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// Expected linear BLEU (Tromble et al. 2008): theta[0] for every word and theta[n] times the probability that
// it occurs for every n-gram, n below theta.size(). The best derivation has the least Bayes risk of those of
// the forest. Throws std::invalid_argument unless the forest is annotated for these n.
std::vector<double> mbr_values(const Distribution& p, std::span<const double> theta);

// The n-grams of exactly `order` words that arise at each edge, of strings that begin with order - 1 times
// kBegin and end with kEnd; those with either arise at the edges into the root.
EdgeNgrams padded_ngrams(const Hypergraph& forest, std::int32_t order);

// log q by edge, q being the n-gram model of an order that is nearest to the distribution over strings, by
// KL(p || q) (Li, Eisner and Khudanpur 2009): its probabilities are ratios of expected counts. Throws
// std::invalid_argument unless the forest is annotated for this order.
std::vector<double> variational_values(const Distribution& p, std::int32_t order);

}  // namespace hiero
