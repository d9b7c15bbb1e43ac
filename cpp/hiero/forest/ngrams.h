// N-grams of annotated forests, in which all strings of a node have the same first and last words. An n-gram
// arises at an edge if it is part of the edge's string but not of the string of one tail. Every n-gram of a
// derivation arises at exactly one of its edges, so that n-gram counts are additive.
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

// Symbols before the first word and behind the last word of a whole string.
inline constexpr std::int32_t kBegin = -2;
inline constexpr std::int32_t kEnd = -3;

class NgramReader {
 public:
  // The forest must outlive the reader. Throws std::invalid_argument if it is not annotated.
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

  // Visits the n-grams of exactly `order` words that arise at an edge; `order` is at most `ngram_order`. If
  // `is_whole`, the edge's string is taken to stand between order - 1 kBegin and one kEnd.
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
  // The target side with the boundaries of tails filled in; -1 in place of the words between them.
  std::vector<std::int32_t> words_;
  // Number of words up to this one that come from the same tail without a gap.
  std::vector<std::size_t> owner_run_;
};

// The n-grams of up to `ngram_order` words by edge.
struct EdgeNgrams {
  std::vector<std::vector<std::int32_t>> ngrams;  // word indices, in order of appearance
  std::vector<std::int32_t> offsets{0};           // edges + 1
  std::vector<std::int32_t> ids;                  // indices into `ngrams`, repeated if it arises repeatedly
};

// Returns the n-grams of all edges. Throws std::invalid_argument if the forest is not annotated.
EdgeNgrams edge_ngrams(const Hypergraph& forest);

}  // namespace hiero
