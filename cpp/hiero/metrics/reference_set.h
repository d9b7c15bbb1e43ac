// The n-grams of reference translations, segment by segment, and the statistics of hypotheses that BLEU
// (Papineni et al. 2002) and NIST (Doddington 2002) are computed from, which add up over segments.
//
// Every segment has a trie of its references' n-grams; walking down from each word of a hypothesis counts its
// matches exactly. An n-gram of the hypothesis matches at most as often as it occurs in one reference.
//
// How to use: ReferenceSet references(segments); references.words(vocabulary) once for a list of hypotheses,
// then bleu(segment, words, kind) for each. All const calls may run on several threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiero/metrics/bleu.h"

namespace hiero {

inline constexpr std::size_t kNistOrder = 5;

// NIST's statistics, which add up over segments.
struct NistCounts {
  double length = 0;
  double reference_length = 0;              // mean over references
  std::array<double, kNistOrder> info{};    // bits of matched n-grams, by order
  std::array<double, kNistOrder> totals{};  // n-grams of the hypothesis, by order
};

class ReferenceSet {
 public:
  using References = std::vector<std::vector<std::string>>;

  // Takes the references of each segment; empty ones count as missing. Throws std::invalid_argument that
  // names a segment, from 0, all of whose references are empty.
  explicit ReferenceSet(std::span<const References> segments);

  std::size_t size() const { return segments_.size(); }

  // Returns the number of each word of a vocabulary, by which hypotheses are given; -1 if in no reference.
  std::vector<std::int32_t> words(std::span<const std::string> vocabulary) const;

  // Return the statistics of a hypothesis for a segment below size(), words numbered by words().
  BleuCounts bleu(std::size_t segment, std::span<const std::int32_t> words, ReferenceLength kind) const;
  NistCounts nist(std::size_t segment, std::span<const std::int32_t> words) const;
  // Counts the n-grams of 1 to 4 words of the hypothesis that occur in a reference, without clipping.
  std::array<double, kBleuOrder> unclipped(std::size_t segment, std::span<const std::int32_t> words) const;

  // Counts many strings between the same left and right words, at the cost of the string alone.
  class Frame;

 private:
  using Node = std::int32_t;

  // Nodes are n-grams, 0 the empty one; children are in a hash table of (parent, word).
  struct Trie {
    std::vector<std::uint64_t> keys;  // their number is a power of two
    std::vector<Node> nodes;          // by key; -1: free
    Node size = 1;

    Trie();
    Node child(Node parent, std::int32_t word) const;
    Node add(Node parent, std::int32_t word);
    void grow();
  };
  struct Segment {
    Trie trie;
    std::vector<std::int32_t> clip;  // by node: greatest count in one reference
    std::vector<double> info;        // by node, in bits
    std::vector<double> lengths;     // see reference_lengths
  };

  // Calls match(node, order - 1) for every match of an n-gram of up to `order` words.
  template <class Match>
  static void for_matches(const Segment& segment, std::span<const std::int32_t> words, std::size_t order,
                          const Match& match);

  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Segment> segments_;
};

// Counts what stands between fixed words. The references must outlive it; words are numbered by words().
class ReferenceSet::Frame {
 public:
  Frame(const ReferenceSet& references, std::size_t segment, std::span<const std::int32_t> left,
        std::span<const std::int32_t> right);

  // Returns the statistics of left, these words and right together.
  BleuCounts bleu(std::span<const std::int32_t> words, ReferenceLength kind);

 private:
  // Calls count(node, order - 1) for the n-grams of references that begin at positions [begin, end) of a text
  // and end at `after` or later.
  template <class Count>
  void walk(std::span<const std::int32_t> text, std::size_t begin, std::size_t end, std::size_t after,
            const Count& count) const;

  const Segment& segment_;
  std::vector<std::int32_t> left_;   // the last words on the left, which n-grams can begin in
  std::vector<std::int32_t> right_;  // the first words on the right
  std::size_t outside_;              // number of words left and right
  std::array<double, kBleuOrder> matches_{};
  std::vector<std::int32_t> seen_;  // by node: occurrences within left or within right
  std::vector<std::int32_t> text_;
  std::vector<Node> counted_;
};

// Returns the statistics of one sentence. Empty references do not count; throws std::invalid_argument if all
// are empty.
BleuCounts bleu_counts(std::span<const std::string> tokens, const ReferenceSet::References& references,
                       ReferenceLength kind);

}  // namespace hiero
