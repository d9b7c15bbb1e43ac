// The coarse first pass (Petrov et al. 2008): the best derivation through every cell when rules carry
// their own words' LM estimates and nothing is known across rules. Costs a few nanoseconds an
// application and tells where the search should spend its time.
#pragma once

#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/targets.h"

namespace hiero {

class CoarsePass {
 public:
  // Computes inside and outside scores (natural log, best derivation) for every cell.
  void run(const Chart& chart, const SentenceTargets& targets);
  // Removes the applications, and the cells left without any, whose best derivation is worse than the
  // best of all by more than `threshold`.
  void prune(double threshold, Chart& chart, SentenceTargets& targets);

  // How far the best derivation through this cell is below the best of all; 0 or more.
  double gap(CellId cell) const { return best_ - (inside_[cell] + outside_[cell]); }
  double outside(CellId cell) const { return outside_[cell]; }
  double best() const { return best_; }

 private:
  double score(const Application& application, double target) const;

  std::vector<double> inside_;
  std::vector<double> outside_;
  double best_ = 0;
  std::vector<std::uint32_t> kept_;
  std::vector<CellId> renumber_;
};

}  // namespace hiero
