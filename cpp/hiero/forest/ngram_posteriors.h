// Posteriors of n-grams under a distribution over derivations (Tromble et al. 2008; Kumar et al. 2009): the
// probability that a derivation's string has an n-gram, and the expected number of times it does.
//
// They differ for n-grams that can occur several times. The probability is 1 minus the mass of the
// derivations without the n-gram, which is computed exactly by an inside pass over the shares of edges that
// leaves out the edges where the n-gram arises. The pass multiplies probabilities, so that nothing cancels.
#pragma once

#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// Returns the probability that each n-gram occurs. `ngrams` are those of the distribution's forest.
std::vector<double> ngram_posteriors(const Distribution& p, const EdgeNgrams& ngrams);

// Returns the expected number of each n-gram.
std::vector<double> ngram_expectations(const Distribution& p, const EdgeNgrams& ngrams);

}  // namespace hiero
