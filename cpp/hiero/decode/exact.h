// Exact search: looks for a derivation that is better than the best of a first search, and proves that there
// is none, or says how much better one could be. It has three steps, each of which drops only what no better
// derivation has (Rush, Chang and Collins 2013, "Optimal Beam Search for Machine Translation"):
//   1. the relaxation drops targets of rules (relaxation.h);
//   2. the search of chains finds bounds on what is around strings with given ends, and drops more of them
//      (chain_search.h);
//   3. what is left is searched bottom-up with the language models. Antecedents of a rule are joined from
//   left
//      to right, and a hypothesis is dropped where a bound on all derivations with it is not above the score
//      to beat. What is found then, if anything, is the best derivation.
// Each of steps 2 and 3 may reach the limit of hypotheses. Then the best bound so far says how far the known
// derivation can be from the best.
//
// How to use: make one per sentence, run() it once, and read the result; space() has the derivation if run()
// found a better one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiero/decode/chain_search.h"
#include "hiero/decode/search_space.h"

namespace hiero {

class ExactSearch {
 public:
  // `score` is that of the best goal of the first search.
  ExactSearch(const SearchContext& context, double score);

  // Makes at most `limit` hypotheses.
  void run(std::uint64_t limit);

  // How much better than the known derivation, or that of space() if there is one, the best can be: 0 if it
  // cannot be better by more than the rounding of sums, infinity if nothing is known.
  double gap() const { return gap_; }
  // Whether it ended before all derivations were bounded: by its limit, or by the deadline.
  bool is_stopped() const { return stopped_; }
  bool is_better() const { return !space_.goals.empty(); }
  // The search space, with the best edge of each item; its goals are those that score better.
  const SearchSpace& space() const { return space_; }

 private:
  // A string of words: a rule's, up to one of its nonterminals, or an item's.
  struct Piece {
    double score;
    double excess;  // bound on what words before it add beyond its first run
    double before;  // bound on what they add to its first run
    double after;   // potential of its last run
    Ends ends;
    const ChartState* states;

    double bound() const { return score + excess; }
    double optimistic() const { return bound() + before + after; }
  };
  // What all derivations of a cell with the same states are.
  struct Node {
    Piece piece;
    ItemId item;
  };

  double search_chains();
  void search();
  void search_cell();
  void apply(const Choice& choice);
  void bound_rest();
  Piece first_piece(const Choice& choice) const;
  void join(std::uint32_t joined, const Piece& prefix);
  double bound_whole(const Piece& piece, std::uint32_t joined) const;
  Piece sketch(const Piece& prefix, const Piece& next, std::uint32_t joined) const;
  void score_joined(Piece& piece, const Piece& prefix, const Piece& next, std::uint32_t joined);
  void add(const Piece& piece);
  void finish_cell();
  void score_goals();
  double score_run(std::uint32_t chunk) const;

  const SearchContext& context_;
  std::size_t lms_;
  double floor_;  // derivations must score higher
  double best_;
  Relaxation relaxation_;
  std::vector<CellId> order_;  // shorter spans before longer ones
  std::optional<ChainSearch> chains_;
  SearchSpace space_;
  std::vector<std::vector<Node>> nodes_;  // by cell, best first
  double gap_ = std::numeric_limits<double>::infinity();
  std::uint64_t left_ = 0;  // hypotheses that may still be made
  bool stopped_ = false;

  CellId cell_ = 0;                                         // that is being searched
  std::unordered_map<std::string, std::size_t> by_states_;  // index in nodes_[cell_]
  std::string key_;

  // Of the choice that is being applied.
  std::uint32_t application_ = 0;
  const Choice* choice_ = nullptr;
  const TargetSide* side_ = nullptr;
  std::span<const CellId> tails_;
  // By number of nonterminals that are joined: bounds on all that is behind them, and behind the next one.
  std::vector<double> rest_;
  std::vector<double> behind_;
  std::vector<ChartState> states_;  // by number of nonterminals that are joined, then LM
  std::vector<ItemId> items_;       // antecedents in source order
};

}  // namespace hiero
