// The coarse first pass (Petrov et al. 2008): the best derivation through every cell when rules carry
// their own words' LM estimates and nothing is known across rules. It costs a few nanoseconds an
// application and tells where the search should spend its hypotheses.
#pragma once

#include <span>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/targets.h"

namespace hiero {

class CoarsePass {
 public:
  // Computes inside and outside scores (natural log, best derivation) for every cell.
  void run(const Matches& matches, SentenceTargets& targets);

  // How far the best derivation through a cell is below the best of all.
  double gap(CellId cell) const {
    const double gap = best_ - (inside_[cell] + outside_[cell]);
    return gap > rounding_ ? gap : 0;
  }

 private:
  double score(std::span<const CellId> tails, double target) const;

  std::vector<double> inside_;
  std::vector<double> outside_;
  double best_ = 0;
  double rounding_ = 0;  // of sums such as best_, at most
};

}  // namespace hiero
