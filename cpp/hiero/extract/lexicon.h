// Word translation counts and probabilities from word alignments (Koehn et al. 2003, section 3.1): a link
// counts one for its pair of words, an unaligned word counts one for itself with the empty word NULL.
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/extract/aligned_pair.h"

namespace hiero {

class Lexicon {
 public:
  // Stands for NULL on either side.
  static constexpr WordId kNull = kNoWord;

  struct Entry {
    WordId source;
    WordId target;
    std::uint64_t count;
  };

  void add(const AlignedPair& pair);
  void add(WordId source, WordId target, std::uint64_t count);
  // By source, then target.
  std::vector<Entry> entries() const;

  // w(e|f) = count(f, e) / sum over e' of count(f, e'); 0 for a pair not seen.
  double target_given_source(WordId source, WordId target) const;
  // w(f|e) likewise.
  double source_given_target(WordId source, WordId target) const;

 private:
  struct Slot {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint64_t count = 0;
  };
  // The slot of a pair, or the empty one where it belongs.
  std::size_t find(std::uint64_t key) const;
  std::uint64_t count(WordId source, WordId target) const;
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t size_ = 0;
  // Sums over the pairs of a word; NULL first, then word 0, 1, ...
  std::vector<std::uint64_t> source_totals_;
  std::vector<std::uint64_t> target_totals_;
};

}  // namespace hiero
