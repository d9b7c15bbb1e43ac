#include "hiero/extract/initial_phrases.h"

#include <algorithm>

namespace hiero {

void InitialPhrases::Reach::add(const Reach& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

void InitialPhrases::reach(const AlignedPair& pair) {
  constexpr Reach kNone{~0u, 0};
  source_reach_.assign(pair.source.size(), kNone);
  target_reach_.assign(pair.target.size(), kNone);
  for (const AlignmentLink& link : pair.links) {
    source_reach_[link.source].add({link.target, link.target});
    target_reach_[link.target].add({link.source, link.source});
  }
}

const std::vector<Phrase>& InitialPhrases::find(const AlignedPair& pair) {
  reach(pair);
  phrases_.clear();
  const auto length = static_cast<std::uint32_t>(pair.source.size());
  for (std::uint32_t begin = 0; begin < length; ++begin) {
    if (source_reach_[begin].none() && !options_.unaligned_edges) continue;
    Reach target{~0u, 0};
    for (std::uint32_t end = begin + 1; end <= std::min(length, begin + options_.max_phrase); ++end) {
      const Reach& last = source_reach_[end - 1];
      target.add(last);
      if (target.none() || (last.none() && !options_.unaligned_edges)) continue;
      if (target.last - target.first >= options_.max_phrase) break;  // it can only grow
      Reach back{~0u, 0};
      for (std::uint32_t t = target.first; t <= target.last; ++t) back.add(target_reach_[t]);
      if (back.first >= begin && back.last < end) add(begin, end, target);
    }
  }
  return phrases_;
}

void InitialPhrases::add(std::uint32_t begin, std::uint32_t end, const Reach& target) {
  if (options_.unaligned_edges) {
    add_loose(begin, end, target);
  } else {
    phrases_.push_back({begin, end, target.first, target.last + 1});
  }
}

// With every number of unaligned target words that fits on either side.
void InitialPhrases::add_loose(std::uint32_t begin, std::uint32_t end, const Reach& target) {
  const auto fits = [this](std::uint32_t from, std::uint32_t to) { return to - from < options_.max_phrase; };
  std::uint32_t first = target.first;
  while (first > 0 && fits(first - 1, target.last) && target_reach_[first - 1].none()) --first;
  std::uint32_t last = target.last;
  while (last + 1 < target_reach_.size() && fits(target.first, last + 1) && target_reach_[last + 1].none())
    ++last;
  for (std::uint32_t from = first; from <= target.first; ++from) {
    for (std::uint32_t to = target.last; to <= last; ++to) {
      if (fits(from, to)) phrases_.push_back({begin, end, from, to + 1});
    }
  }
}

}  // namespace hiero
