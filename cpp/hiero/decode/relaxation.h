// Optimistic scores of everything that could be part of a better derivation than one that is known: each
// run of words of a rule takes whatever end before it suits it best (junctions.h). With them, inside and
// outside scores (natural log) bound the best derivation through each target of each application; targets
// whose bound is not above the score of the known derivation are dropped (Rush, Chang and Collins 2013,
// "Optimal Beam Search for Machine Translation"). What is dropped takes its words with it, which tightens the
// bounds of the rest. Potentials are found by subgradients with the step length of Polyak (1969), which knows
// the score to reach.
//
// How to use: make one per sentence with a score to beat, and call tighten(); then read the choices that are
// left, and the bounds.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hiero/decode/junctions.h"
#include "hiero/decode/search_context.h"

namespace hiero {

// A run of words of a target side.
struct Run {
  std::uint32_t chunk;  // the number of nonterminals before it
  bool is_first;        // after <s>: nothing comes before it
  StartId start;
  EndId end;
};

// The runs at both ends of a string. A string without words has neither.
struct Ends {
  StartId start = 0;
  EndId end = 0;
  bool is_empty = true;
  bool is_first = false;  // begins the translation, so that nothing comes before its start

  std::uint64_t key() const {
    return is_empty ? ~std::uint64_t{0}
                    : (std::uint64_t{start} << 32 | end) ^ (std::uint64_t{is_first} << 63);
  }
};

// A target of an application.
struct Choice {
  double score;  // without what its runs add
  std::uint32_t side;
  std::uint32_t slot;
};

class Relaxation {
 public:
  // Derivations that score above `floor` are kept.
  Relaxation(const SearchContext& context, double floor);

  // Drops what cannot be in a derivation above the floor, until little more can be dropped.
  void tighten();

  // Whether the bounds hold; if not, nothing may be concluded (junctions.h).
  bool is_sound() const { return junctions_.are_sound(); }
  // No derivation scores higher, if it is above the floor.
  double bound() const { return bound_; }

  // What is left of an application, best first.
  std::span<const Choice> choices(std::uint32_t application) const {
    return std::span(choices_).subspan(first_[application], count_[application]);
  }
  const TargetSide& side(const Choice& choice) const { return *sides_[choice.side].target; }
  std::span<const Run> runs(const Choice& choice) const { return runs_of(sides_[choice.side]); }
  // The run between a nonterminal and the one before it, or null; the first chunk has number 0.
  const Run* run(const Choice& choice, std::uint32_t chunk) const {
    for (const Run& run : runs(choice)) {
      if (run.chunk == chunk) return &run;
    }
    return nullptr;
  }
  // A bound on what a run adds to the score of its words.
  double score(const Run& run) const { return run_scores_[static_cast<std::size_t>(&run - runs_.data())]; }
  // A choice's score with the bounds of its runs.
  double optimistic(const Choice& choice) const { return choice.score + side_bounds_[choice.side]; }
  // A bound on what derivations add around a cell; -infinity if there are none.
  double outside(CellId cell) const { return outside_[cell]; }
  // The run <s>, empty if the grammar has it, and the run </s>, with its score without context.
  Ends opening() const { return opening_; }
  Ends goal() const { return goal_; }
  double goal_words() const { return goal_words_; }
  // Drops all other choices. Pointers to choices become invalid.
  void keep_only(const std::unordered_set<const Choice*>& used);

  // What a run that ends so adds to its score and takes from the next one's (junctions.h).
  double potential(EndId end) const { return junctions_.potentials()[end]; }
  Junctions& junctions() { return junctions_; }
  std::uint64_t lm_queries() const { return lm_queries_ + junctions_.lm_queries(); }

 private:
  struct Side {
    const TargetSide* target;
    std::uint32_t set;
    std::size_t first_run;
    std::size_t last_run;
    bool is_used;
  };

  void read_choices();
  std::uint32_t find_side(std::uint32_t application, std::uint32_t slot);
  void add_runs(Side& side, bool follows_bos);
  void read_words();
  std::span<const Run> runs_of(const Side& side) const {
    return std::span(runs_).subspan(side.first_run, side.last_run - side.first_run);
  }
  double score_tails(std::uint32_t application) const;
  void score_runs();
  void pass_inside();
  void pass_outside();
  void score_all();
  void follow_subgradient();
  double count_junctions();
  void drop();
  std::size_t choices_left() const;

  const SearchContext& context_;
  double floor_;
  Junctions junctions_;
  std::uint64_t lm_queries_ = 0;  // but those of junctions_
  std::vector<Choice> choices_;
  std::vector<std::size_t> first_;    // by application, in choices_
  std::vector<std::uint32_t> count_;  // by application
  std::vector<std::uint32_t> best_;   // by application: the position of its best choice
  std::vector<Side> sides_;
  std::vector<double> side_bounds_;  // by side: sum of what its runs add at most
  std::unordered_map<std::uint64_t, std::uint32_t> side_ids_;
  std::vector<Run> runs_;
  std::vector<double> run_scores_;
  std::vector<EndId> run_ends_;  // by run: the end that its bound is of
  Ends goal_;
  double goal_words_ = 0;  // its score without context
  Ends opening_;
  EndId goal_end_ = 0;  // the end that the bound of </s> is of
  double goal_bound_ = 0;
  std::vector<double> inside_;
  std::vector<double> outside_;
  std::vector<std::uint32_t> best_application_;  // by cell
  std::vector<double> counts_;  // by end: how often the best derivation ends runs so, minus begins after it
  double bound_ = 0;
};

}  // namespace hiero
