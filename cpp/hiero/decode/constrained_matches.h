// Constraints on the words of a translation, in the search space itself: the intersection of the grammar that
// a sentence matches with an automaton over target words (Bar-Hillel, Perles and Shamir 1961). A cell becomes
// one cell for each pair of states that its strings lead from and to; a rule application becomes one for each
// such pair and choice of antecedent cells, with the targets whose words fit. Search, forests and features
// work on the result as on any matches, and all derivations that are left obey the constraint.
//
// How to use: keep one per thread, and run() it on the matches of a sentence.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/target_automaton.h"

namespace hiero {

// Positions of source words, and of words of the constraint's reference or prefix, that no rule covers in a
// derivation that obeys the constraint as far as it goes.
struct Uncovered {
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> target;
};

class MatchConstrainer {
 public:
  // Replaces the matches. If no derivation of the whole sentence obeys, they have no cells. Returns what is
  // not covered: nothing, if there is a derivation.
  Uncovered run(const Sentence& sentence, const TargetAutomaton& automaton, Matches& matches);

 private:
  using State = TargetAutomaton::State;
  using WordClass = TargetAutomaton::WordClass;
  // A cell with the states before and after its strings.
  struct StateCell {
    State before;
    State after;
    CellId cell;
  };
  // The target sides of a set: classes of words, and nonterminals.
  struct Sides {
    std::vector<std::uint32_t> firsts;  // by slot, in symbols; one more at the end
    std::vector<Symbol> symbols;        // word classes and nonterminals
  };
  // A target of the application at hand that fits.
  struct Fit {
    State before;
    State after;
    std::array<CellId, kMaxArity> tails;
    std::uint32_t slot;

    auto key() const { return std::tie(before, after, tails); }
  };
  // An application of the cell at hand.
  struct StateApplication {
    State before;
    State after;
    Application application;
  };

  void constrain_cell(CellId id);
  void fit_targets(const Application& application);
  void walk(const Symbol* at, const Symbol* end, State state, Fit& fit);
  void record(State after, Fit& fit);
  void add_applications(const Application& application);
  std::uint32_t subset(std::uint32_t set, std::span<const Fit> fits);
  const Sides& sides_of(std::uint32_t set);
  WordClass class_of(std::size_t table, WordId word);
  Uncovered find_uncovered() const;

  const Sentence* sentence_ = nullptr;
  const TargetAutomaton* automaton_ = nullptr;
  const Matches* all_ = nullptr;
  Matches out_;
  UselessCells useless_;
  std::vector<std::pair<State, State>> states_;  // by cell of out_: before and after its strings
  std::vector<std::uint32_t> origins_;           // by target set of out_: the set of all_
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> subsets_;  // by set and slots

  std::vector<Sides> sides_;                     // by target set of all_
  std::vector<std::uint8_t> has_sides_;          // by target set of all_
  std::vector<std::vector<WordClass>> classes_;  // by table, then word; kUnknown: not looked up yet
  std::vector<std::vector<StateCell>> cells_;    // by cell of all_, sorted by the state before
  RuleRecord record_;

  CellId cell_ = 0;                             // of all_, at hand
  std::vector<StateApplication> applications_;  // its applications
  std::span<const CellId> tails_;               // of the application at hand
  std::vector<Fit> fits_;                       // its targets
};

}  // namespace hiero
