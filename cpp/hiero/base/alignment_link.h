// A link of a word alignment: a source and a target position, both counted from 0; and lines of links, such
// as 0-0 1-2 (Pharaoh format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hiero {

struct AlignmentLink {
  std::uint32_t source;
  std::uint32_t target;
};

// Replaces `links` by those of a line, sorted and without duplicates. Throws FormatError, which does not name
// the line, for malformed links and for links that point beyond a sentence pair with these numbers of words.
void parse_alignment(std::string_view line, std::size_t source_words, std::size_t target_words,
                     std::vector<AlignmentLink>& links);

}  // namespace hiero
