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
#include <tuple>
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

// Of a source word: how many of its occurrences have 0, 1, ... links. The last number counts as well all that
// are greater.
using Fertilities = std::array<std::uint32_t, 8>;
inline constexpr std::size_t kMostLinks = std::tuple_size_v<Fertilities> - 1;

// What is counted in one direction, wherever it lies.
class DirectionView {
 public:
  DirectionView(const LinkCounts& links, std::span<const std::uint32_t> totals,
                std::span<const Fertilities> fertilities, const JumpCounts& jumps)
      : links_(&links), totals_(totals), fertilities_(fertilities), jumps_(&jumps) {}
  // The slots of target word t are those from `begins[t]` to `begins[t + 1]`.
  DirectionView(std::span<const std::uint64_t> begins, std::span<const LinkSlot> slots,
                std::span<const std::uint32_t> totals, std::span<const Fertilities> fertilities,
                const JumpCounts& jumps)
      : begins_(begins), slots_(slots), totals_(totals), fertilities_(fertilities), jumps_(&jumps) {}

  LinkRow row(WordId target) const {
    if (links_) return links_->row(target);
    return LinkRow(slots_.subspan(begins_[target], begins_[target + 1] - begins_[target]));
  }
  // Returns the number of links of a source word, or of the empty word.
  std::uint32_t total(WordId source) const { return totals_[source]; }
  const Fertilities& fertilities(WordId source) const { return fertilities_[source]; }
  const JumpCounts& jumps() const { return *jumps_; }

 private:
  const LinkCounts* links_ = nullptr;
  std::span<const std::uint64_t> begins_;
  std::span<const LinkSlot> slots_;
  std::span<const std::uint32_t> totals_;
  std::span<const Fertilities> fertilities_;
  const JumpCounts* jumps_;
};

struct DirectionModel {
  DirectionModel(std::size_t source_words, std::size_t target_words)
      : links(target_words), totals(source_words, 0), fertilities(source_words) {}

  LinkCounts links;
  std::vector<std::uint32_t> totals;  // by source word: its links
  JumpCounts jumps;
  std::vector<Fertilities> fertilities;  // by source word

  // Valid as long as the model is not moved.
  DirectionView view() const { return {links, totals, fertilities, jumps}; }
};

}  // namespace hiero
