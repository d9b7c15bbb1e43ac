// Aligns single pairs of sentences by what samplers have learned, in both directions.
//
// How to use: PairAligner aligner(directions, heuristic);
//   aligner.align(source, target, {}, seed); then aligner.links(), aligner.probabilities(...)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/align/frozen_direction.h"
#include "hiero/align/sentence_sampler.h"
#include "hiero/align/symmetrise.h"
#include "hiero/base/alignment_link.h"

namespace hiero {

// The samplers of both directions: target words given source words, and the other way round.
using Directions = std::array<std::vector<FrozenDirection>, 2>;

// Aligns the words of one side with those of the other.
class DirectionAligner {
 public:
  // `samplers` must outlive it.
  explicit DirectionAligner(std::span<const FrozenDirection> samplers);
  DirectionAligner(DirectionAligner&&) = default;  // a copy's samplers would use tables of the original

  // The links of a pair that each sampler begins with: none, or those that it was trained with.
  using Starts = std::span<const std::span<const LinkPosition>>;

  // Finds the most probable position of every target word. No side may be empty. Ids are below the number of
  // words of the samplers, or equal to it for an unknown word.
  void align(std::span<const WordId> source, std::span<const WordId> target, Starts starts,
             std::uint64_t seed);
  std::span<const LinkPosition> best() const { return best_; }
  // The probabilities of all positions and of no link, (target words, source words + 1).
  std::span<const float> probabilities() const { return probabilities_; }

 private:
  std::vector<DirectionTables> tables_;
  std::vector<SentenceSampler> samplers_;
  std::vector<float> probabilities_;
  std::vector<LinkPosition> drawn_, best_;
};

class PairAligner {
 public:
  // The directions must outlive it.
  PairAligner(const Directions& directions, Heuristic heuristic)
      : forward_(directions[0]), backward_(directions[1]), symmetriser_(heuristic) {}

  // Aligns a pair, of which a side may be empty, which then has no links. Starts are those of both
  // directions. What it finds is valid until the next call.
  void align(std::span<const WordId> source, std::span<const WordId> target,
             const std::array<DirectionAligner::Starts, 2>& starts, std::uint64_t seed);

  std::span<const AlignmentLink> links() const { return links_; }
  // Returns the mean of the probabilities of a link in both directions.
  float probability(const AlignmentLink& link) const;
  // The probabilities of all links of each target word and of no link, (target words, source words + 1), and
  // of each source word; none if a side is empty.
  std::span<const float> forward_probabilities() const { return probabilities(forward_); }
  std::span<const float> backward_probabilities() const { return probabilities(backward_); }
  std::size_t sources() const { return sources_; }
  std::size_t targets() const { return targets_; }

 private:
  std::span<const float> probabilities(const DirectionAligner& direction) const {
    return sources_ == 0 || targets_ == 0 ? std::span<const float>() : direction.probabilities();
  }

  DirectionAligner forward_, backward_;
  Symmetriser symmetriser_;
  std::span<const AlignmentLink> links_;
  std::size_t sources_ = 0, targets_ = 0;
};

}  // namespace hiero
