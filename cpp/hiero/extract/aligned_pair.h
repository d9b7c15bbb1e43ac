// A sentence pair with its word alignment, and a reader of three files with one sentence pair per line:
// source text, target text, and links such as 0-0 1-2 (Pharaoh format). White space is ASCII.
//
// How to use: AlignedPairReader reader(source, target, links, words); AlignedPair pair;
//   while (reader.next(pair)) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/alignment_link.h"
#include "hiero/base/line_reader.h"
#include "hiero/base/symbol.h"
#include "hiero/base/vocab.h"

namespace hiero {

struct AlignedPair {
  std::vector<WordId> source;
  std::vector<WordId> target;
  std::vector<AlignmentLink> links;  // sorted, without duplicates
  std::uint64_t line = 0;            // line number, counted from 1
};

class AlignedPairReader {
 public:
  AlignedPairReader(LineReader& source, LineReader& target, LineReader& links, Vocab& words)
      : source_(source), target_(target), links_(links), words_(words) {}

  // Reads the next pair and skips pairs with a blank side. Returns false at the end. Throws FormatError for
  // files with different numbers of lines, invalid UTF-8, malformed links, and links that point beyond a
  // sentence.
  bool next(AlignedPair& pair);

 private:
  bool read_lines();
  void read_words(std::string_view line, const LineReader& reader, std::vector<WordId>& out);
  void read_links(AlignedPair& pair);

  LineReader& source_;
  LineReader& target_;
  LineReader& links_;
  Vocab& words_;
  std::string_view lines_[3];
};

}  // namespace hiero
