// Bitexts and models at random, for tests of word alignment.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/align/direction_model.h"

namespace hiero {

inline std::string folder() { return "."; }

using Links = std::vector<LinkPosition>;

// A model with counts at random.
inline DirectionModel random_model(std::mt19937& rng) {
  constexpr WordId kWords = 5;
  DirectionModel model(kWords, kWords);
  for (WordId target = 1; target < kWords; ++target) {
    for (WordId source = 0; source < kWords; ++source) {
      const auto count = static_cast<std::int32_t>(rng() % 4);
      model.links.add(target, source, count);
      model.totals[source] += static_cast<std::uint32_t>(count);
    }
  }
  for (int k = 0; k < 40; ++k) {
    Links links;
    for (int j = 0; j < 4; ++j) links.push_back(rng() % 4 ? static_cast<LinkPosition>(rng() % 4) : kNoLink);
    model.jumps.add(links, 4, 1);
  }
  for (auto& fertilities : model.fertilities) {
    for (std::uint32_t& count : fertilities) count = rng() % 20;
  }
  return model;
}

// Adds 900 pairs, of which every seventh side or so is empty; words of the same number go together.
inline void add_pairs(Bitext& bitext) {
  std::mt19937 rng(4);
  for (int k = 0; k < 900; ++k) {
    std::string source, target;
    for (std::size_t n = rng() % 7; n > 0; --n) {
      const std::string word = std::to_string(rng() % 40);
      source += " s" + word;
      target = (rng() % 4 ? target + " " : " x ") + "t" + word + " " + target;
    }
    bitext.add(source, target);
  }
}

inline bool same_jumps(const JumpCounts& a, const JumpCounts& b) {
  for (int distance = -JumpCounts::kFarthest; distance <= JumpCounts::kFarthest; ++distance) {
    if (a.count(distance) != b.count(distance)) return false;
  }
  return a.total() == b.total();
}

}  // namespace hiero
