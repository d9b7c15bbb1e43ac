// n-grams over forests. A forest whose nodes know how all their strings begin and end can say of every edge
// which n-grams arise there: those that are not within the yield of one tail. Every n-gram of a derivation
// arises at exactly one of its edges, so that n-gram counts are additive.
//
// How to use: Hypergraph refined = annotate_ngrams(forest, 4, {}); NgramReader reader(refined);
//             reader.read(e, [](std::span<const std::int32_t> ngram) { ... });
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

// What stands before the first word of a whole string, and behind its last.
inline constexpr std::int32_t kBegin = -2;
inline constexpr std::int32_t kEnd = -3;

class NgramReader {
 public:
  // The forest has to be annotated and outlive the reader. Throws std::invalid_argument if it is not.
  explicit NgramReader(const Hypergraph& forest);

  // Visits the n-grams of up to `ngram_order` words that arise at an edge, as word indices.
  template <class Visit>
  void read(EdgeIndex e, const Visit& visit) {
    lay_out(e);
    const auto order = static_cast<std::size_t>(forest_.ngram_order);
    for (std::size_t end = 1; end <= words_.size(); ++end) {
      if (words_[end - 1] < 0) continue;
      for (std::size_t size = 1; size <= order && size <= end && words_[end - size] >= 0; ++size) {
        const std::size_t begin = end - size;
        if (owner_run_[end - 1] >= size) continue;  // within one tail
        visit(std::span<const std::int32_t>(words_.data() + begin, size));
      }
    }
  }

  // Visits those of exactly `order` words, at most `ngram_order`; where a whole string arises, between order
  // - 1 words kBegin and one kEnd.
  template <class Visit>
  void read_padded(EdgeIndex e, std::int32_t order, bool is_whole, const Visit& visit) {
    lay_out(e);
    const auto size = static_cast<std::size_t>(order);
    if (is_whole) pad(size - 1);
    for (std::size_t end = size; end <= words_.size(); ++end) {
      if (owner_run_[end - 1] >= size) continue;  // within one tail
      const std::span<const std::int32_t> ngram(words_.data() + (end - size), size);
      if (std::ranges::find(ngram, -1) == ngram.end()) visit(ngram);
    }
  }

 private:
  void lay_out(EdgeIndex e);
  void pad(std::size_t before);
  void add(std::int32_t word, std::size_t run);

  const Hypergraph& forest_;
  // The target side with the boundaries of tails in it; -1 where words of a tail are not known.
  std::vector<std::int32_t> words_;
  // How many of the words up to this one come from the same tail, without a gap between them.
  std::vector<std::size_t> owner_run_;
};

// The n-grams of up to `ngram_order` words by edge.
struct EdgeNgrams {
  std::vector<std::vector<std::int32_t>> ngrams;  // of word indices, in order of appearance
  std::vector<std::int32_t> offsets{0};           // edges + 1
  std::vector<std::int32_t> ids;                  // index into `ngrams`, as often as it arises at an edge
};

// Throws std::invalid_argument if the forest is not annotated.
EdgeNgrams edge_ngrams(const Hypergraph& forest);

}  // namespace hiero
