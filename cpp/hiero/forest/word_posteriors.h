// How sure the words of a translation are, by the distribution over the derivations of its forest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hiero/forest/distribution.h"

namespace hiero {

// Returns for each word of a translation the expected number of times that a derivation's string has it, over
// the number of times that the translation has it, at most 1. For a word that no derivation has more than
// once it is the probability that a translation has the word, wherever it stands (Ueffing and Ney 2007,
// "Word-Level Confidence Estimation for Machine Translation"). Words that the forest does not have get 0.
std::vector<double> word_posteriors(const Distribution& distribution, std::span<const std::string> words);

}  // namespace hiero
