// n-grams over forests. A forest whose nodes know how all their strings begin and end can say of every edge
// which n-grams arise there: those that are not within the yield of one tail. Every n-gram of a derivation
// arises at exactly one of its edges, so that n-gram counts are additive.
//
// How to use: edge_ngrams(annotate_ngrams(forest, 4, {})).
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct EdgeNgrams {
  std::vector<std::vector<std::int32_t>> ngrams;  // of word indices, in order of appearance
  std::vector<std::int32_t> offsets{0};           // edges + 1
  std::vector<std::int32_t> ids;                  // index into `ngrams`, as often as it arises at an edge
};

// The n-grams of up to `ngram_order` words. Throws std::invalid_argument if the forest is not annotated.
EdgeNgrams edge_ngrams(const Hypergraph& forest);

}  // namespace hiero
