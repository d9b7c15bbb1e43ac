// Random numbers of a seed and further numbers, such as those of a sweep and of a shard: the same on every
// machine. SplitMix64 (Steele, Lea and Flood 2014).
#pragma once

#include <cstdint>
#include <initializer_list>

namespace hiero {

class Random {
 public:
  explicit Random(std::initializer_list<std::uint64_t> seeds) {
    for (const std::uint64_t seed : seeds) state_ = mixed(state_ + kStep) ^ mixed(seed + kStep);
  }

  std::uint64_t next() { return mixed(state_ += kStep); }
  // Returns a number from 0 to 1, without 1.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  // Returns a number from 0 to count - 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>((next() >> 32) * count >> 32); }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace hiero
