#include "hiero/extract/initial_phrases.h"

#include <algorithm>

namespace hiero {

void InitialPhrases::LinkedRange::extend(const LinkedRange& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

void InitialPhrases::find_linked_ranges(const AlignedPair& pair) {
  source_links_.assign(pair.source.size(), {});
  target_links_.assign(pair.target.size(), {});
  for (const AlignmentLink& link : pair.links) {
    source_links_[link.source].extend({link.target, link.target});
    target_links_[link.target].extend({link.source, link.source});
  }
}

const std::vector<Phrase>& InitialPhrases::find(const AlignedPair& pair) {
  find_linked_ranges(pair);
  phrases_.clear();
  const auto length = static_cast<std::uint32_t>(pair.source.size());
  for (std::uint32_t begin = 0; begin < length; ++begin) {
    if (source_links_[begin].empty() && !options_.unaligned_edges) continue;
    LinkedRange target;
    for (std::uint32_t end = begin + 1; end <= std::min(length, begin + options_.max_phrase); ++end) {
      const LinkedRange& last = source_links_[end - 1];
      target.extend(last);
      if (target.empty() || (last.empty() && !options_.unaligned_edges)) continue;
      if (target.last - target.first >= options_.max_phrase) break;  // it can only grow
      LinkedRange source;
      for (std::uint32_t t = target.first; t <= target.last; ++t) source.extend(target_links_[t]);
      if (source.first >= begin && source.last < end) add(begin, end, target);
    }
  }
  return phrases_;
}

void InitialPhrases::add(std::uint32_t begin, std::uint32_t end, const LinkedRange& target) {
  if (options_.unaligned_edges) {
    add_with_unaligned_edges(begin, end, target);
  } else {
    phrases_.push_back({begin, end, target.first, target.last + 1});
  }
}

// Adds the phrase pair with all numbers of unaligned target words before and after it, up to max_phrase
// words.
void InitialPhrases::add_with_unaligned_edges(std::uint32_t begin, std::uint32_t end,
                                              const LinkedRange& target) {
  const auto fits = [this](std::uint32_t from, std::uint32_t to) { return to - from < options_.max_phrase; };
  std::uint32_t first = target.first;
  while (first > 0 && fits(first - 1, target.last) && target_links_[first - 1].empty()) --first;
  std::uint32_t last = target.last;
  while (last + 1 < target_links_.size() && fits(target.first, last + 1) && target_links_[last + 1].empty())
    ++last;
  for (std::uint32_t from = first; from <= target.first; ++from) {
    for (std::uint32_t to = target.last; to <= last; ++to) {
      if (fits(from, to)) phrases_.push_back({begin, end, from, to + 1});
    }
  }
}

}  // namespace hiero
