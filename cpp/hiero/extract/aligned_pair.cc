#include "hiero/extract/aligned_pair.h"

#include <algorithm>
#include <charconv>

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

bool AlignedPairReader::next(AlignedPair& pair) {
  do {
    if (!read_lines()) return false;
    read_words(lines_[0], source_, pair.source);
    read_words(lines_[1], target_, pair.target);
    read_links(pair);
  } while (pair.source.empty() || pair.target.empty());
  pair.line = source_.line_number();
  return true;
}

bool AlignedPairReader::read_lines() {
  LineReader* const readers[3] = {&source_, &target_, &links_};
  bool has_line[3];
  for (int i = 0; i < 3; ++i) has_line[i] = readers[i]->next(lines_[i]);
  if (has_line[0] && has_line[1] && has_line[2]) return true;
  if (!has_line[0] && !has_line[1] && !has_line[2]) return false;
  for (int i = 0; i < 3; ++i) {
    if (has_line[i]) continue;
    throw_ended(*readers[i], *readers[std::ranges::find(has_line, true) - has_line]);
  }
  return false;
}

void AlignedPairReader::read_words(std::string_view line, const LineReader& reader,
                                   std::vector<WordId>& out) {
  if (!is_utf8(line)) throw FormatError(reader.where() + ": invalid UTF-8");
  out.clear();
  while (true) {
    const std::string_view token = next_token(line);
    if (token.empty()) return;
    out.push_back(words_.intern(token));
  }
}

void AlignedPairReader::read_links(AlignedPair& pair) {
  pair.links.clear();
  std::string_view line = lines_[2];
  if (!is_utf8(line)) throw FormatError(links_.where() + ": invalid UTF-8");
  while (true) {
    const std::string_view token = next_token(line);
    if (token.empty()) break;
    AlignmentLink link{};
    if (!parse_link(token, link)) {
      throw FormatError(links_.where() + ": expected links such as 0-0 1-2, found " + std::string(token));
    }
    if (link.source >= pair.source.size() || link.target >= pair.target.size()) {
      throw FormatError(links_.where() + ": link " + std::string(token) +
                        " points beyond a sentence pair of " + std::to_string(pair.source.size()) + " and " +
                        std::to_string(pair.target.size()) + " words");
    }
    pair.links.push_back(link);
  }
  const auto key = [](const AlignmentLink& link) { return std::pair(link.source, link.target); };
  std::ranges::sort(pair.links, {}, key);
  const auto duplicates = std::ranges::unique(pair.links, {}, key);
  pair.links.erase(duplicates.begin(), duplicates.end());
}

}  // namespace hiero
