#include "hiero/align/direction_model.h"

#include <algorithm>

namespace hiero {

void JumpCounts::add(std::span<const LinkPosition> links, std::size_t source_length, std::int64_t weight) {
  const auto jump = [&](std::int64_t from, std::int64_t to, std::int64_t times) {
    const auto distance = std::clamp<std::int64_t>(to - from, -kFarthest, kFarthest);
    counts_[static_cast<std::size_t>(distance + kFarthest)] += times * weight;
    total_ += times * weight;
  };
  std::int64_t before = -1;
  std::int64_t times =
      0;  // how often the next jump counts: for the link before it and for words without a link
  for (const LinkPosition link : links) {
    if (link == kNoLink) {
      ++times;
    } else {
      jump(before, link, times + 1);
      before = link;
      times = 1;
    }
  }
  jump(before, static_cast<std::int64_t>(source_length), times);
}

void JumpCounts::add(const JumpCounts& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  total_ += other.total_;
}

}  // namespace hiero
