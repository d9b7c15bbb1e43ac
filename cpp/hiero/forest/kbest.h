// Lazy k-best derivations of a forest, best first: Algorithm 3 of Huang and Chiang (2005), "Better
// k-best Parsing". Every node keeps the derivations found so far and a queue of candidates; asking for
// one more at the root asks the nodes below only for what that needs. Ties go by edge index, then by
// the ranks of the tails.
//
// How to use: KBest kbest(forest, scores); while (auto d = kbest.next()) ...
// The forest must outlive the iterator.
#pragma once

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
  // `unique`: only the best derivation of every target string. Throws std::invalid_argument unless
  // there is one score per edge.
  KBest(const Hypergraph& forest, std::vector<double> scores, bool unique);

  std::optional<ScoredDerivation> next();

 private:
  struct Choice {
    double score;
    EdgeIndex edge;
    std::vector<std::uint32_t> ranks;  // one per tail

    bool worse_than(const Choice& other) const;
  };
  struct Node {
    bool started = false;
    std::vector<Choice> found;
    std::vector<Choice> queue;  // a heap
  };

  bool find(NodeIndex v, std::uint32_t rank);
  void start(NodeIndex v);
  void push_next(NodeIndex v, const Choice& choice);
  bool rescore(Choice& choice);
  ScoredDerivation derivation(const Choice& choice) const;

  const Hypergraph& forest_;
  std::vector<double> scores_;
  std::vector<Node> nodes_;
  bool unique_;
  std::uint32_t rank_ = 0;
  struct WordsHash {
    std::size_t operator()(const std::vector<std::int32_t>& words) const;
  };
  std::unordered_set<std::vector<std::int32_t>, WordsHash> seen_;
};

}  // namespace hiero
