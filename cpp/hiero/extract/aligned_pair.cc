#include "hiero/extract/aligned_pair.h"

#include <algorithm>

#include "hiero/base/error.h"
#include "hiero/base/tokens.h"

namespace hiero {

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
  const std::string_view line = lines_[2];
  if (!is_utf8(line)) throw FormatError(links_.where() + ": invalid UTF-8");
  try {
    parse_alignment(line, pair.source.size(), pair.target.size(), pair.links);
  } catch (const FormatError& error) {
    throw FormatError(links_.where() + ": " + error.what());
  }
}

}  // namespace hiero
