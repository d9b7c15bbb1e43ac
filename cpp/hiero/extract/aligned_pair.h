// A sentence pair with its word alignment, and the reader of line-aligned files of them: source text, target
// text and links as 0-0 1-2 (Pharaoh format), tokens split at ASCII white space.
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
  std::vector<AlignmentLink> links;  // sorted, each once
  std::uint64_t line = 0;            // from 1
};

class AlignedPairReader {
 public:
  AlignedPairReader(LineReader& source, LineReader& target, LineReader& links, Vocab& words)
      : source_(source), target_(target), links_(links), words_(words) {}

  // The next pair of which neither side is blank. False at the end. Throws FormatError for files of
  // different length, invalid UTF-8, malformed links and links that point beyond a sentence.
  bool next(AlignedPair& pair);

 private:
  bool read_lines();
  void read_words(std::string_view line, const LineReader& from, std::vector<WordId>& out);
  void read_links(AlignedPair& pair);

  LineReader& source_;
  LineReader& target_;
  LineReader& links_;
  Vocab& words_;
  std::string_view lines_[3];
};

}  // namespace hiero
