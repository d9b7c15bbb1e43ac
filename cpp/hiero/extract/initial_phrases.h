// Finds the initial phrase pairs of a word-aligned sentence pair (Chiang 2007, section 3.2): pairs of spans
// of at most max_phrase words each, with at least one link between them and no link that leaves them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hiero/extract/aligned_pair.h"
#include "hiero/extract/options.h"

namespace hiero {

// A phrase pair as half-open spans of word positions.
struct Phrase {
  std::uint32_t source_begin;
  std::uint32_t source_end;
  std::uint32_t target_begin;
  std::uint32_t target_end;

  std::uint32_t source_size() const { return source_end - source_begin; }
  std::uint32_t target_size() const { return target_end - target_begin; }
};

class InitialPhrases {
 public:
  explicit InitialPhrases(ExtractOptions options) : options_(std::move(options)) {}

  // Returns all initial phrase pairs, sorted by source span, then target span. The words at the ends of a
  // span are aligned unless the options allow unaligned words there. The result is valid until the next call.
  const std::vector<Phrase>& find(const AlignedPair& pair);

 private:
  // The first and the last position on the other side that words are linked to.
  struct LinkedRange {
    std::uint32_t first = ~0u;
    std::uint32_t last = 0;
    bool empty() const { return first > last; }
    void extend(const LinkedRange& other);
  };

  void find_linked_ranges(const AlignedPair& pair);
  void add(std::uint32_t begin, std::uint32_t end, const LinkedRange& target);
  void add_with_unaligned_edges(std::uint32_t begin, std::uint32_t end, const LinkedRange& target);

  ExtractOptions options_;
  std::vector<LinkedRange> source_links_;  // by source position: the range of linked target positions
  std::vector<LinkedRange> target_links_;  // by target position: the range of linked source positions
  std::vector<Phrase> phrases_;
};

}  // namespace hiero
