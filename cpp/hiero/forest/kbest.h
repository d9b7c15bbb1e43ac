// Lazy k-best derivations of a forest, best first: Algorithm 3 of Huang and Chiang (2005), "Better
// k-best Parsing". Every node keeps the derivations found so far, at first its best one, and a queue of
// candidates; asking for one more at the root asks the nodes below only for what that needs. Ties go by edge
// index, then by the ranks of the tails.
//
// Lists of distinct strings keep, at every node, only the best derivation of every string below it: the best
// of a whole string is made of such, and forests whose strings have millions of derivations stay quick.
//
// How to use: KBest kbest(forest, scores); while (auto d = kbest.next()) ...
// The forest must outlive the iterator.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct ScoredDerivation {
  double score;
  std::vector<EdgeIndex> edges;  // preorder
};

class KBest {
 public:
  // `unique`: only the best derivation of every target string. Derivations of score -infinity are left out.
  // Throws std::invalid_argument for scores that check_edge_values refuses.
  KBest(const Hypergraph& forest, std::vector<double> scores, bool unique);

  std::optional<ScoredDerivation> next();

 private:
  struct Choice {
    double score;
    EdgeIndex edge;
    std::vector<std::uint32_t> ranks;  // one per tail
  };
  // Stands for a string: two polynomials over its words in the field of 2^61 - 1, so that those of a
  // concatenation follow from its parts', and their bases to the power of its length.
  struct Yield {
    std::array<std::uint64_t, 2> hash{};
    std::array<std::uint64_t, 2> power{1, 1};
  };
  struct YieldHash {
    std::size_t operator()(const std::array<std::uint64_t, 2>& hash) const { return hash[0]; }
  };
  struct Node {
    std::vector<Choice> found;
    std::vector<Yield> yields;  // of `found`, for distinct strings
    std::unordered_set<std::array<std::uint64_t, 2>, YieldHash> seen;
    // The last one taken from the queue, if its successors are not queued; it need not be in `found`.
    std::optional<Choice> last;
    std::vector<Choice> queue;  // a heap

    // Whether the derivation of this rank is known, or that there is none.
    bool is_settled(std::uint32_t rank) const { return found.size() > rank || (queue.empty() && !last); }
  };
  struct Wanted {
    NodeIndex node;
    std::uint32_t rank;
  };

  static bool is_worse(const Choice& a, const Choice& b);
  static std::size_t first_to_raise(const Choice& choice);
  bool find(NodeIndex v, std::uint32_t rank);
  void start(NodeIndex v);
  void take_best(Node& node);
  bool want_tails(const Choice& choice);
  void push_successors(Node& node);
  bool rescore(Choice& choice) const;
  Yield yield_of(const Choice& choice) const;
  ScoredDerivation derivation(const Choice& choice) const;

  const Hypergraph& forest_;
  std::vector<double> scores_;
  std::vector<Node> nodes_;
  bool started_ = false;
  std::vector<Wanted> wanted_;  // what find is about to make known, the next one last
  bool unique_;
  std::uint32_t rank_ = 0;
};

}  // namespace hiero
