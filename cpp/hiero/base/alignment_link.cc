#include "hiero/base/alignment_link.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/tokens.h"

namespace hiero {
namespace {

bool parse_link(std::string_view token, AlignmentLink& link) {
  const char* const end = token.data() + token.size();
  const auto [dash, error] = std::from_chars(token.data(), end, link.source);
  if (error != std::errc() || dash == end || *dash != '-') return false;
  const auto [link_end, target_error] = std::from_chars(dash + 1, end, link.target);
  return target_error == std::errc() && link_end == end;
}

}  // namespace

void parse_alignment(std::string_view line, std::size_t source_words, std::size_t target_words,
                     std::vector<AlignmentLink>& links) {
  links.clear();
  for (std::string_view token = next_token(line); !token.empty(); token = next_token(line)) {
    AlignmentLink link{};
    if (!parse_link(token, link))
      throw FormatError("expected links such as 0-0 1-2, found " + std::string(token));
    if (link.source >= source_words || link.target >= target_words) {
      throw FormatError("link " + std::string(token) + " points beyond a sentence pair of " +
                        std::to_string(source_words) + " and " + std::to_string(target_words) + " words");
    }
    links.push_back(link);
  }
  const auto key = [](const AlignmentLink& link) { return std::pair(link.source, link.target); };
  std::ranges::sort(links, {}, key);
  const auto duplicates = std::ranges::unique(links, {}, key);
  links.erase(duplicates.begin(), duplicates.end());
}

}  // namespace hiero
