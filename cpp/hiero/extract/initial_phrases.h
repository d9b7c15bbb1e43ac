// Initial phrase pairs of a word-aligned sentence pair (Chiang 2007, section 3.2): spans of at most
// max_phrase words on either side, at least one link between them and none that leaves them.
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/extract/aligned_pair.h"
#include "hiero/extract/options.h"

namespace hiero {

// Half-open spans of word positions.
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
  explicit InitialPhrases(const ExtractOptions& options) : options_(options) {}

  // All of them, ordered by source span, then target span. Tight ones unless the options allow
  // unaligned words at the edges.
  const std::vector<Phrase>& find(const AlignedPair& pair);

 private:
  // Positions on the other side that a word links to; none: first > last.
  struct Reach {
    std::uint32_t first;
    std::uint32_t last;
    bool none() const { return first > last; }
    void add(const Reach& other);
  };

  void reach(const AlignedPair& pair);
  void add(std::uint32_t begin, std::uint32_t end, const Reach& target);
  void add_loose(std::uint32_t begin, std::uint32_t end, const Reach& target);

  const ExtractOptions& options_;
  std::vector<Reach> source_reach_;
  std::vector<Reach> target_reach_;
  std::vector<Phrase> phrases_;
};

}  // namespace hiero
