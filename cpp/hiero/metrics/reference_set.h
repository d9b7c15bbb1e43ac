// The n-grams of reference translations, segment by segment, and what n-gram metrics count of hypotheses:
// BLEU (Papineni et al. 2002) and NIST (Doddington 2002), as statistics that add up over segments.
//
// Every segment has a trie of its references' n-grams, so that a hypothesis is counted by walking down from
// each of its words, and n-grams are told apart exactly. An n-gram of the hypothesis matches as often as it
// is in the reference that has it most often.
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

// Counts that add up over segments.
struct NistCounts {
  double length = 0;
  double reference_length = 0;              // mean over references
  std::array<double, kNistOrder> info{};    // of matched n-grams, by order
  std::array<double, kNistOrder> totals{};  // n-grams of the hypothesis
};

class ReferenceSet {
 public:
  using References = std::vector<std::vector<std::string>>;

  // The references of each segment; empty ones are missing. Throws std::invalid_argument naming a segment,
  // from 0, all of whose references are empty.
  explicit ReferenceSet(std::span<const References> segments);

  std::size_t size() const { return segments_.size(); }

  // The words of a vocabulary as the numbers that hypotheses are given in; -1 for those in no reference.
  std::vector<std::int32_t> words(std::span<const std::string> vocabulary) const;

  // Of a hypothesis for a segment below size(); words as words() numbers them.
  BleuCounts bleu(std::size_t segment, std::span<const std::int32_t> words, ReferenceLength kind) const;
  NistCounts nist(std::size_t segment, std::span<const std::int32_t> words) const;
  // The hypothesis's n-grams of up to four words that are in a reference, however often they are there.
  std::array<double, kBleuOrder> unclipped(std::size_t segment, std::span<const std::int32_t> words) const;

  // Counts many strings that stand between the same words, at the cost of what is between alone.
  class Frame;

 private:
  using Node = std::int32_t;

  // Nodes are n-grams, 0 the empty one; children in a hash table of (parent, word).
  struct Trie {
    std::vector<std::uint64_t> keys;  // a power of two of them
    std::vector<Node> nodes;          // of each key; -1: free
    Node size = 1;

    Trie();
    Node child(Node parent, std::int32_t word) const;
    Node add(Node parent, std::int32_t word);
    void grow();
  };
  struct Segment {
    Trie trie;
    std::vector<std::int32_t> clip;  // by node: the most in one reference
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

// The references must outlive it; words as words() numbers them.
class ReferenceSet::Frame {
 public:
  Frame(const ReferenceSet& references, std::size_t segment, std::span<const std::int32_t> left,
        std::span<const std::int32_t> right);

  // Of left, these words and right together.
  BleuCounts bleu(std::span<const std::int32_t> words, ReferenceLength kind);

 private:
  // Calls count(node, order - 1) for the known n-grams that begin at these places of a text and end behind
  // `after`.
  template <class Count>
  void walk(std::span<const std::int32_t> text, std::size_t begin, std::size_t end, std::size_t after,
            const Count& count) const;

  const Segment& segment_;
  std::vector<std::int32_t> left_;   // its last words, of which n-grams can go on
  std::vector<std::int32_t> right_;  // its first words
  std::size_t outside_;              // words of both
  std::array<double, kBleuOrder> matches_{};
  std::vector<std::int32_t> seen_;  // by node, within either
  std::vector<std::int32_t> text_;
  std::vector<Node> counted_;
};

}  // namespace hiero
