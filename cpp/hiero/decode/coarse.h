// The coarse first pass (Petrov et al. 2008): the best derivation through every cell when rules carry
// their own words' LM estimates and nothing is known across rules. It costs a few nanoseconds an
// application and tells where the search should spend its hypotheses.
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/targets.h"

namespace hiero {

class CoarsePass {
 public:
  // Computes inside and outside scores (natural log, best derivation) for every cell.
  void run(const Chart& chart, const SentenceTargets& targets);

  // Shares out pop_limit hypotheses per cell, cell by cell, in proportion to
  //   min(span length, span_limit) * exp(-2 gap / mean gap),
  // where the gap is how far the best derivation through the cell is below the best of all. Short spans
  // have few hypotheses worth making, and cells off the best derivations seldom matter. The shares do
  // not change when all weights are multiplied by a number. At least 1 each; 0 (no limit) stays 0.
  void allot(const Chart& chart, std::uint32_t pop_limit, std::uint32_t span_limit,
             std::vector<std::uint64_t>& limits) const;

 private:
  double score(const Application& application, double target) const;
  double gap(CellId cell) const { return best_ - (inside_[cell] + outside_[cell]); }

  std::vector<double> inside_;
  std::vector<double> outside_;
  double best_ = 0;
};

}  // namespace hiero
