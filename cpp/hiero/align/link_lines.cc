#include "hiero/align/link_lines.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/base/parallel.h"

namespace hiero {
namespace {

// Appends the lines of the pair that was aligned last.
void append_lines(const PairAligner& aligner, LinkLines& lines) {
  const char* space = "";
  for (const AlignmentLink& link : aligner.links()) {
    char digits[16];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, aligner.probability(link), std::chars_format::fixed, 3);
    lines.links += space + std::to_string(link.source) + '-' + std::to_string(link.target);
    lines.probabilities += space;
    lines.probabilities.append(digits, end.ptr);
    space = " ";
  }
  lines.links += '\n';
  lines.probabilities += '\n';
}

}  // namespace

LinkLines lines_of(std::size_t first, std::size_t last, const Directions& directions, Heuristic heuristic,
                   std::size_t threads,
                   const std::function<void(std::size_t pair, PairAligner& aligner)>& align) {
  std::vector<PairAligner> aligners;
  for (std::size_t k = 0; k < threads; ++k) aligners.emplace_back(directions, heuristic);
  std::vector<LinkLines> parts((last - first + kShardPairs - 1) / kShardPairs);
  parallel_for(parts.size(), threads, [&](std::size_t part, std::size_t worker) {
    const std::size_t begin = first + part * kShardPairs;
    for (std::size_t pair = begin; pair < std::min(last, begin + kShardPairs); ++pair) {
      align(pair, aligners[worker]);
      append_lines(aligners[worker], parts[part]);
    }
  });
  LinkLines out;
  for (const LinkLines& part : parts) {
    out.links += part.links;
    out.probabilities += part.probabilities;
  }
  return out;
}

}  // namespace hiero
