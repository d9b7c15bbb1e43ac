// Word translation counts and probabilities from word alignments (Koehn et al. 2003, section 3.1):
//
//   w(e | f) = count(f, e) / sum over e' of count(f, e')
//
// A link counts 1 for its pair of words. An unaligned word counts 1 for its pair with the empty word NULL.
// Counts may come on top of those of another lexicon.
//
// How to use: lexicon.add(pair) for every sentence pair; then lexicon.target_given_source(f, e).
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/extract/aligned_pair.h"

namespace hiero {

class Lexicon {
 public:
  // The id of NULL, on either side.
  static constexpr WordId kNull = kNoWord;

  struct Entry {
    WordId source;
    WordId target;
    std::uint64_t count;
  };

  // `base`, whose counts are added to its own, must outlive it. Both number words in the same way.
  explicit Lexicon(const Lexicon* base = nullptr) : base_(base) {}

  void add(const AlignedPair& pair);
  void add(WordId source, WordId target, std::uint64_t count);
  // Returns all pairs that were seen, without those of the base, sorted by source, then target.
  std::vector<Entry> entries() const;

  // Returns w(e | f), or 0 for a pair that was not seen.
  double target_given_source(WordId source, WordId target) const;
  // Returns w(f | e), or 0 for a pair that was not seen.
  double source_given_target(WordId source, WordId target) const;

 private:
  struct Slot {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint64_t count = 0;
  };
  // Returns the index of the slot of a pair, or of the empty slot for it.
  std::size_t find(std::uint64_t key) const;
  std::uint64_t count(WordId source, WordId target) const;
  std::uint64_t source_total(WordId word) const;
  std::uint64_t target_total(WordId word) const;
  void grow();

  const Lexicon* base_;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a hash table with linear probing
  std::size_t size_ = 0;
  // Sum of the counts of a word: NULL first, then words 0, 1, ...
  std::vector<std::uint64_t> source_totals_;
  std::vector<std::uint64_t> target_totals_;
};

}  // namespace hiero
