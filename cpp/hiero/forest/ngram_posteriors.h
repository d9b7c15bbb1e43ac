// How likely n-grams are under a distribution over derivations (Tromble et al. 2008; Kumar et al. 2009): the
// probability that the string has an n-gram at all, and how often it has it on average.
//
// Where an n-gram can be there more than once the two differ. The first is one less the mass of the
// derivations without it, which an inside pass over the shares of edges gives, leaving out the edges where
// the n-gram arises: exact, and products of probabilities, so that nothing cancels.
#pragma once

#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// By n-gram of `ngrams`, which are those of the distribution's forest: the probability that it occurs.
std::vector<double> ngram_posteriors(const Distribution& p, const EdgeNgrams& ngrams);

// By n-gram, its expected number.
std::vector<double> ngram_expectations(const Distribution& p, const EdgeNgrams& ngrams);

}  // namespace hiero
