// Lazy k-best derivations of a node of a forest, best first: Algorithm 3 of Huang and Chiang (2005), "Better
// k-best Parsing". The best derivation of every node is known from the start. A node of which more are asked
// for holds those ranked so far and a queue of candidates; the next derivation of the top node extends the
// lists of the nodes below it only as far as it needs. Ties go by edge index, then by the ranks of the tails.
//
// Lists of distinct strings hold, at every node, only the best derivation of every string below it. The best
// derivation of a whole string consists of such derivations, so that forests whose strings have millions of
// derivations stay quick.
//
// How to use: KBest kbest(forest, forest.root, scores, unique); while (auto d = kbest.next()) ...
// The forest must outlive the iterator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hiero/forest/derivation.h"
#include "hiero/forest/distinct_strings.h"
#include "hiero/forest/hypergraph.h"
#include "hiero/forest/string_hash.h"

namespace hiero {

struct ScoredDerivation {
  double score;
  std::vector<EdgeIndex> edges;  // preorder
};

class KBest {
 public:
  // Enumerates the derivations of the node `top` (-1: none) that score above -infinity; with `unique` only
  // the best derivation of every target string. Throws std::invalid_argument for scores that
  // check_edge_values refuses, std::out_of_range for an unknown node.
  KBest(const Hypergraph& forest, NodeIndex top, std::vector<double> scores, bool unique);

  std::optional<ScoredDerivation> next();

 private:
  struct Candidate {
    double score;
    EdgeIndex edge;
    std::size_t ranks;  // place in ranks_ of the ranks of its tails
  };
  // A node of which more derivations than the best one are asked for.
  struct Node {
    bool is_open = false;
    std::vector<Candidate> ranked;  // best first
    DistinctStrings yields;         // by rank, where strings are distinct
    // The candidate last taken from the queue, until its successors are queued; not always in `ranked`.
    std::optional<Candidate> last;
    std::vector<Candidate> queue;  // a heap

    // Tells whether the derivation of this rank is in `ranked`, or will never be.
    bool is_settled(std::uint32_t rank) const {
      return ranked.size() > rank || (is_open && queue.empty() && !last);
    }
  };
  struct Request {
    NodeIndex node;
    std::uint32_t rank;
  };

  void find_best_yields();
  void open(NodeIndex v);
  bool rank_up_to(NodeIndex v, std::uint32_t rank);
  bool is_worse(const Candidate& a, const Candidate& b) const;
  std::size_t first_to_raise(const Candidate& candidate) const;
  void take_best(Node& node);
  bool request_tails(const Candidate& candidate);
  void push_successors(Node& node);
  bool rescore(Candidate& candidate) const;
  StringHash yield_of(const Candidate& candidate) const;
  ScoredDerivation derivation(NodeIndex v, std::uint32_t rank) const;
  std::span<const std::uint32_t> ranks_of(const Candidate& candidate) const;

  const Hypergraph& forest_;
  NodeIndex top_;
  std::vector<double> scores_;
  BestEdges best_;                       // of the nodes up to the top
  std::vector<StringHash> best_yields_;  // of the best derivation of every node, where strings are distinct
  std::vector<Node> nodes_;              // up to the top
  std::vector<std::uint32_t> ranks_;
  std::vector<Request> requests_;  // a stack: the next one to settle is last
  bool unique_;
  std::uint32_t rank_ = 0;
};

// Returns the k best derivations of a node, or fewer where there are no more. Throws as KBest does.
std::vector<Derivation> kbest(const std::shared_ptr<const Forest>& forest, NodeIndex top,
                              std::vector<double> scores, std::size_t k, bool unique);

// Returns the derivation of a forest that has only one, such as a translation without the other hypotheses.
// Its score is summed in the same order as in k-best lists, so that it is equal to the bit; 0 for a forest
// without a derivation.
Derivation only_derivation(const std::shared_ptr<const Forest>& forest, std::span<const double> weights);

// A k-best list as arrays: derivations, their strings and their feature sums.
struct KBestArrays {
  std::vector<double> scores;
  std::vector<std::int32_t> edge_offsets{0}, edges;  // in preorder
  std::vector<std::int32_t> word_offsets{0}, words;  // indices into the forest's `words`
  FeatureRows features{{0}, {}, {}};
  std::size_t feature_count = 0;  // number of columns of `features`
};

// Does what kbest does. Throws ForestError as well, where an array would have more than 2^31 - 1 entries.
KBestArrays kbest_arrays(const Forest& forest, NodeIndex top, std::vector<double> scores, std::size_t k,
                         bool unique);

}  // namespace hiero
