// Rules of word-aligned sentence pairs (Chiang 2007, section 3.2): every initial phrase pair is a rule, and
// so is what is left of it when up to two smaller ones within are replaced by nonterminals that are not
// adjacent on the source side, as long as an aligned pair of words is left.
//
// Every initial phrase occurrence counts one, shared evenly by the ways to make a rule of it. Shares are
// whole numbers of 1/kOne, the first few one larger where kOne does not divide evenly, so that they sum
// to one exactly and sums do not depend on order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiero/base/record_sorter.h"
#include "hiero/extract/aligned_pair.h"
#include "hiero/extract/initial_phrases.h"
#include "hiero/extract/options.h"

namespace hiero {

// How often nonterminals that stand for a number of source words are reordered: cross another nonterminal
// or a link of their rule (Chiang et al. 2008, section 4). One count per nonterminal of each occurrence.
struct DistortionCounts {
  static constexpr std::size_t kSizes = 10;  // 1 .. 9 words, and 10 or more
  using Row = std::array<std::uint64_t, kSizes>;
  Row monotone{};
  Row reordered{};
};

// What is counted of one rule with one alignment.
struct RuleCount {
  std::uint64_t shares;       // in units of 1/kOne
  std::uint64_t occurrences;  // ways to make the rule of an initial phrase occurrence
};

// The sum of shares. Throws Error from 2^28 initial phrase occurrences on, which 64 bits do not hold.
std::uint64_t sum_of_shares(std::uint64_t a, std::uint64_t b);

class RuleExtractor {
 public:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 36;
  // Combines records of equal keys. Throws what sum_of_shares does.
  static void add_counts(std::span<std::byte> into, Bytes value);

  // Throws std::invalid_argument for options out of range.
  explicit RuleExtractor(const ExtractOptions& options);

  // Adds a record for every occurrence of a rule. Key: target symbols, source symbols (symbol_code.h), a
  // byte each for source and target position of every link; value: a RuleCount.
  void extract(const AlignedPair& pair, RecordSorter& out);

  std::uint64_t phrase_count() const { return phrase_count_; }  // initial phrase occurrences
  const DistortionCounts& distortion() const { return distortion_; }

 private:
  // A sentence side as bytes: the symbols and where they begin.
  struct Side {
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> at;
    void encode(const std::vector<WordId>& words);
    void append(std::uint32_t begin, std::uint32_t end, std::vector<std::byte>& out) const;
  };
  // What becomes nonterminals, in source order.
  struct Gaps {
    const Phrase* first = nullptr;
    const Phrase* second = nullptr;
  };

  void prepare(const AlignedPair& pair);
  void find_gaps(const Phrase& phrase, bool whole, bool hierarchical);
  void find_second_gaps(const Phrase& phrase, const Phrase& first);
  bool fits(const Phrase& gap, const Phrase& phrase) const;
  std::uint32_t links_in(const Phrase& phrase) const;
  void encode(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  void encode_links(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  void count_distortion(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  bool is_reordered(const AlignedPair& pair, const Phrase& phrase, const Phrase& gap) const;

  ExtractOptions options_;
  InitialPhrases finder_;
  const std::vector<Phrase>* phrases_ = nullptr;
  std::vector<std::uint32_t> phrases_at_;  // the first phrase that begins at or after a source position
  std::vector<std::uint32_t> links_at_;    // the first link at or after a source position
  Side source_;
  Side target_;
  std::vector<Gaps> choices_;
  std::vector<std::byte> key_;
  std::uint64_t phrase_count_ = 0;
  DistortionCounts distortion_;
};

}  // namespace hiero
