// Lines of the links of many pairs, made by several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "hiero/align/pair_aligner.h"

namespace hiero {

// For each pair a line of links, such as "0-0 1-2", and one of the probability of each of them.
struct LinkLines {
  std::string links;
  std::string probabilities;
};

// Returns the lines of the pairs from `first` to `last`, each of which align(pair, aligner) aligns.
LinkLines lines_of(std::size_t first, std::size_t last, const Directions& directions, Heuristic heuristic,
                   std::size_t threads,
                   const std::function<void(std::size_t pair, PairAligner& aligner)>& align);

}  // namespace hiero
