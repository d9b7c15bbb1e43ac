// Lazy k-best derivations of a node of a forest, best first: Algorithm 3 of Huang and Chiang (2005), "Better
// k-best Parsing". Every node keeps the derivations found so far, at first its best one, and a queue of
// candidates; asking for one more at the top asks the nodes below only for what that needs. Ties go by edge
// index, then by the ranks of the tails.
//
// Lists of distinct strings keep, at every node, only the best derivation of every string below it: the best
// of a whole string is made of such, and forests whose strings have millions of derivations stay quick.
//
// How to use: KBest kbest(forest, forest.root, scores, unique); while (auto d = kbest.next()) ...
// The forest must outlive the iterator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "hiero/forest/derivation.h"
#include "hiero/forest/hypergraph.h"
#include "hiero/forest/string_hash.h"

namespace hiero {

struct ScoredDerivation {
  double score;
  std::vector<EdgeIndex> edges;  // preorder
};

class KBest {
 public:
  // `top`: the node whose derivations are asked for; there are none of -1. `unique`: only the best derivation
  // of every target string. Derivations of score -infinity are left out. Throws std::invalid_argument for
  // scores that check_edge_values refuses, std::out_of_range for no node.
  KBest(const Hypergraph& forest, NodeIndex top, std::vector<double> scores, bool unique);

  std::optional<ScoredDerivation> next();

 private:
  struct Choice {
    double score;
    EdgeIndex edge;
    std::vector<std::uint32_t> ranks;  // one per tail
  };
  struct Node {
    std::vector<Choice> found;
    std::vector<StringHash> yields;  // of `found`, for distinct strings
    std::unordered_set<StringHash::Value, StringHash::OfValue> seen;
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
  StringHash yield_of(const Choice& choice) const;
  ScoredDerivation derivation(const Choice& choice) const;

  const Hypergraph& forest_;
  NodeIndex top_;
  std::vector<double> scores_;
  std::vector<Node> nodes_;  // up to the top
  bool started_ = false;
  std::vector<Wanted> wanted_;  // what find is about to make known, the next one last
  bool unique_;
  std::uint32_t rank_ = 0;
};

// Called with the number of derivations found so far, before each; may throw.
using KBestProgress = std::function<void(std::size_t)>;

// The k best of a node, fewer where there are no more.
std::vector<Derivation> kbest(const std::shared_ptr<const Forest>& forest, NodeIndex top,
                              std::vector<double> scores, std::size_t k, bool unique,
                              const KBestProgress& progress);

// The same as arrays, side by side: derivations, their strings and their feature sums.
struct KBestArrays {
  std::vector<double> scores;
  std::vector<std::int32_t> edge_offsets{0}, edges;  // in preorder
  std::vector<std::int32_t> word_offsets{0}, words;  // indices into the forest's `words`
  FeatureRows features{{0}, {}, {}};
  std::size_t feature_count = 0;  // of the forest
};

// Throws ForestError where an array would have more than 2^31 - 1 entries.
KBestArrays kbest_arrays(const Forest& forest, NodeIndex top, std::vector<double> scores, std::size_t k,
                         bool unique, const KBestProgress& progress);

}  // namespace hiero
