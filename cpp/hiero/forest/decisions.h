// Edge values whose best derivation is a decision by the whole distribution over strings instead of the most
// probable derivation. Both functions need a forest annotated with n-grams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// Returns expected linear BLEU by edge (Tromble et al. 2008): theta[0] for every word, and for every n-gram
// theta[n] times the probability that it occurs, for n below theta.size(). The best derivation has the least
// Bayes risk. Throws std::invalid_argument unless the forest is annotated for these n.
std::vector<double> mbr_values(const Distribution& p, std::span<const double> theta);

// Returns the n-grams of exactly `order` words that arise at each edge, of strings with order - 1 kBegin
// before them and one kEnd behind them. N-grams with kBegin or kEnd arise at the edges into the root.
EdgeNgrams padded_ngrams(const Hypergraph& forest, std::int32_t order);

// Returns log q by edge, where q is the n-gram model of this order nearest to the distribution p over strings
// by KL(p || q) (Li, Eisner and Khudanpur 2009): its probabilities are ratios of expected counts. Throws
// std::invalid_argument unless the forest is annotated for this order.
std::vector<double> variational_values(const Distribution& p, std::int32_t order);

}  // namespace hiero
