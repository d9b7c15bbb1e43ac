// The model of one direction of word alignment (Östling and Tiedemann 2016): every target word is linked with
// one source word or with the empty word. The probability of all links of a pair is the product of
//   lexical     of every target word given the source word that it is linked with,
//   jumps       from the position of one link to that of the next, in target order,
//   fertility   of every source word, which is the number of its links.
// Parameters are the means of their distributions given the links of a corpus, under Dirichlet priors.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/align/link_counts.h"

namespace hiero {

// The source position that a target word is linked with, or kNoLink.
using LinkPosition = std::uint16_t;
inline constexpr LinkPosition kNoLink = 0xFFFF;

// How often links jump by each distance. Both neighbours of a link count the jump between them: these are the
// factors by which a word is sampled given all others. A word without a link counts the jump over it.
class JumpCounts {
 public:
  // Longer jumps count as jumps by this distance.
  static constexpr int kFarthest = 100;

  // Adds the jumps of a sentence, `weight` times each.
  void add(std::span<const LinkPosition> links, std::size_t source_length, std::int64_t weight);
  void add(const JumpCounts& other);

  std::int64_t count(int distance) const { return counts_[static_cast<std::size_t>(distance + kFarthest)]; }
  std::int64_t total() const { return total_; }

 private:
  std::array<std::int64_t, 2 * kFarthest + 1> counts_{};
  std::int64_t total_ = 0;
};

struct DirectionModel {
  // Fertilities from this on count as one.
  static constexpr std::size_t kFertilities = 8;
  using Fertilities = std::array<std::uint32_t, kFertilities>;

  DirectionModel(std::size_t source_words, std::size_t target_words)
      : links(target_words), totals(source_words, 0), fertilities(source_words) {}

  LinkCounts links;
  std::vector<std::uint32_t> totals;  // by source word: its links
  JumpCounts jumps;
  // By source word: how many of its occurrences have 0, 1, ... links.
  std::vector<Fertilities> fertilities;
};

}  // namespace hiero
