// Search with an optimistic model in place of language models: what a run of words adds depends on the run
// before it alone (junctions.h). Derivations of a cell that begin and end with the same runs recombine into
// an item, so that there are few items, and each takes nanoseconds. The outside score of an item bounds what
// derivations add around any string with these ends. This is much tighter than a bound for a cell as a whole
// (Petrov, Haghighi and Klein 2008, "Coarse-to-Fine Syntactic Machine Translation using Language
// Projections"). Items whose bound by the relaxation is not above the score to beat are dropped.
//
// How to use: make one after the relaxation was tightened, and run() it once. If that says that the search is
// complete, ask for its bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "hiero/decode/relaxation.h"

namespace hiero {

class ChainSearch {
 public:
  // Cells are searched in this order, and derivations above `floor` are kept.
  ChainSearch(const SearchContext& context, Relaxation& relaxation, std::span<const CellId> order,
              double floor);

  // Makes at most `limit` hypotheses; returns whether they were enough.
  bool run(std::uint64_t limit);

  // A bound on all derivations above the floor, or -infinity.
  double bound() const { return bound_; }
  // A bound on what derivations above the floor add around a string of a cell; -infinity if there are none.
  double outside(CellId cell, const Ends& ends) const;
  std::uint64_t hypotheses() const { return hypotheses_; }
  // Drops choices that no derivation above the floor has from the relaxation.
  void drop_choices();

  // A bound on what joining two strings adds to their scores.
  double score_junction(const Ends& first, const Ends& second) const;

 private:
  using ChainItemId = std::uint32_t;
  // A string, as far as it is known, with its score.
  struct Chain {
    double score;
    double before;  // bounds on what is before it, and after it
    double after;
    Ends ends;

    double with_after() const { return score + after; }
    double optimistic() const { return with_after() + before; }
  };
  struct ChainItem {
    Chain chain;
    double outside = -std::numeric_limits<double>::infinity();
  };
  // The items of a cell that begin with the same run.
  struct Group {
    Ends ends;
    double before;
    double best;                   // the largest score with what is after it
    std::vector<ChainItemId> ids;  // best first
  };
  struct ChainEdge {
    double score;
    ChainItemId head;
    std::uint32_t first_tail;
    const Choice* choice;
  };

  bool search_cell(CellId cell);
  void apply(const Choice& choice);
  void join(std::uint32_t joined, const Chain& prefix);
  void join(std::uint32_t joined, const Chain& prefix, const Group& group);
  Chain append(const Chain& first, const Chain& second, double junction) const;
  void add(const Chain& chain);
  void finish_cell();
  double score_goal(Ends ends) const;
  void pass_outside();

  const SearchContext& context_;
  Relaxation& relaxation_;
  std::span<const CellId> order_;
  double floor_;
  std::uint64_t limit_ = 0;
  std::uint64_t hypotheses_ = 0;
  double bound_ = -std::numeric_limits<double>::infinity();
  std::vector<ChainItem> items_;
  std::vector<ChainEdge> edges_;
  std::vector<ChainItemId> tails_;
  std::vector<std::vector<Group>> groups_;                               // by cell, best first
  std::vector<std::unordered_map<std::uint64_t, ChainItemId>> by_ends_;  // by cell, then Ends::key()

  CellId cell_ = 0;               // that is being searched
  std::vector<ChainItemId> ids_;  // its items
  // Of the choice that is being applied.
  const Choice* choice_ = nullptr;
  const TargetSide* side_ = nullptr;
  std::span<const CellId> cells_;  // of its nonterminals
  std::vector<double> rest_;       // by number of nonterminals that are joined: bounds on what is behind,
  std::vector<double> behind_;     // and behind the next one
  std::vector<ChainItemId> chosen_;
};

}  // namespace hiero
