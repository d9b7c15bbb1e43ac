// Extracts rules from word-aligned sentence pairs (Chiang 2007, section 3.2). Every initial phrase pair is a
// rule. Replacing one or two smaller initial phrase pairs in it by nonterminals makes further rules, if the
// nonterminals are not adjacent on the source side and a pair of aligned words is left.
//
// Every occurrence of an initial phrase pair counts 1, which is distributed evenly over its rules. Shares are
// integers in units of 1/kOne. Where kOne is not divisible, the first shares are one unit larger, so that the
// shares sum to exactly 1. Sums of integers do not depend on their order.
//
// How to use: RuleExtractor extractor(options); then extractor.extract(pair, add) for every pair, where `add`
// puts rules into a RecordSorter that combines records by RuleExtractor::add_counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hiero/base/record.h"
#include "hiero/extract/aligned_pair.h"
#include "hiero/extract/initial_phrases.h"
#include "hiero/extract/options.h"

namespace hiero {

// Numbers of monotone and reordered nonterminals, by the number of source words that they stand for. A
// nonterminal is reordered if it crosses another nonterminal or a link of its rule (Chiang et al. 2008,
// section 4). Every nonterminal of every occurrence counts.
struct DistortionCounts {
  static constexpr std::size_t kSizes = 10;  // 1 to 9 words, and 10 or more
  using Row = std::array<std::uint64_t, kSizes>;
  Row monotone{};
  Row reordered{};

  void add(const DistortionCounts& other);
};

// The counts of a rule.
struct RuleCount {
  std::uint64_t shares;       // in units of 1/kOne
  std::uint64_t occurrences;  // number of times it was extracted
};

// Returns the sum of shares. Throws Error if it does not fit into 64 bits: for 2^28 initial phrases or more.
std::uint64_t sum_of_shares(std::uint64_t a, std::uint64_t b);

class RuleExtractor {
 public:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 36;
  // Adds a RuleCount to another, as bytes, for a RecordSorter. Throws Error as sum_of_shares() does.
  static void add_counts(std::span<std::byte> sum, Bytes value);

  // Throws std::invalid_argument for options out of range.
  explicit RuleExtractor(const ExtractOptions& options);

  // Receives an occurrence of a rule. The first `target_size` bytes of the key are target symbols; then come
  // source symbols (symbol_code.h), and one byte each for the source and target position of every link.
  using AddRule = std::function<void(Bytes key, std::size_t target_size, const RuleCount& count)>;

  void extract(const AlignedPair& pair, const AddRule& add);

  std::uint64_t phrase_count() const { return phrase_count_; }  // occurrences of initial phrase pairs
  const DistortionCounts& distortion() const { return distortion_; }

 private:
  // The words of a sentence as bytes (symbol_code.h), and where each begins.
  struct EncodedSentence {
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> offsets;
    void encode(const std::vector<WordId>& words);
    // Appends words [begin, end) to `out`.
    void append(std::uint32_t begin, std::uint32_t end, std::vector<std::byte>& out) const;
  };
  // The phrase pairs that a rule replaces by nonterminals, in source order.
  struct Gaps {
    const Phrase* first = nullptr;
    const Phrase* second = nullptr;
  };

  void prepare(const AlignedPair& pair);
  void find_rules(const Phrase& phrase, bool plain, bool hierarchical);
  void find_rules_with_two_gaps(const Phrase& phrase, const Phrase& first);
  bool fits(const Phrase& gap, const Phrase& phrase) const;
  std::uint32_t links_in(const Phrase& phrase) const;
  void encode(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  void encode_links(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  void count_distortion(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps);
  bool is_reordered(const AlignedPair& pair, const Phrase& phrase, const Phrase& gap) const;

  ExtractOptions options_;
  InitialPhrases finder_;
  const std::vector<Phrase>* phrases_ = nullptr;
  std::vector<std::uint32_t>
      first_phrase_;                       // by source position: the first phrase that begins there or later
  std::vector<std::uint32_t> first_link_;  // by source position: the first link there or later
  EncodedSentence source_;
  EncodedSentence target_;
  std::vector<Gaps> rules_;  // the rules of the current phrase, by what they replace
  std::vector<std::byte> key_;
  std::size_t target_size_ = 0;  // of key_
  std::uint64_t phrase_count_ = 0;
  DistortionCounts distortion_;
};

}  // namespace hiero
