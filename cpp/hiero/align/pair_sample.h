// The pairs of a bitext that word alignment learns from: all, or as many as there is memory for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hiero/align/bitext.h"
#include "hiero/align/random.h"

namespace hiero {

// Shards of pairs drawn at random, about a share of all from 0 to 1, with the shard of one pair in any case.
class PairSample {
 public:
  PairSample(std::uint64_t seed, double share, std::size_t pair)
      : seed_(seed), share_(static_cast<float>(share)), shard_(pair / kShardPairs) {}

  bool has(std::size_t pair) const {
    if (share_ >= 1) return true;
    const std::size_t shard = pair / kShardPairs;
    return shard == shard_ || Random{seed_, shard}.uniform() < share_;
  }

 private:
  std::uint64_t seed_;
  float share_;
  std::size_t shard_;
};

}  // namespace hiero
