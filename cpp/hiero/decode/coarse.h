// The coarse first pass (Petrov et al. 2008): inside and outside scores (natural log, best derivation) of
// every cell when each rule is scored with the LM estimate of its words alone, without the words around it.
// It costs a few nanoseconds per application and shows where the search should spend its hypotheses.
//
// How to use: make one per sentence once its targets are scored.
#pragma once

#include <span>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/targets.h"

namespace hiero {

class CoarsePass {
 public:
  // Without a goal there is nothing to score.
  CoarsePass(const Matches& matches, SentenceTargets& targets);

  // The best score of all derivations minus the best of those through a cell; 0 within rounding.
  double gap(CellId cell) const {
    const double gap = best_ - (inside_[cell] + outside_[cell]);
    return gap > rounding_ ? gap : 0;
  }

 private:
  double score(std::span<const CellId> tails, double target) const;

  std::vector<double> inside_;
  std::vector<double> outside_;
  double best_ = 0;
  double rounding_ = 0;  // bound on the rounding of sums such as best_
};

}  // namespace hiero
