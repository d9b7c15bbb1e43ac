// MIRA's update of the weights for a batch of sentences (Chiang et al. 2008, section 2.1):
//
//   min over w' of 1/2 |w' - w|^2 + C sum_i max_j (l_ij - (h(e*_i) - h(e_ij)) . w'),
//
// by sequential minimal optimisation of its dual: the dual variables alpha_ij of a sentence sum to C, at
// first all of it on the oracle e*, and w' = w + sum_ij alpha_ij (h(e*_i) - h(e_ij)). A step moves some alpha
// from one hypothesis of a sentence to another, as far as it lowers the objective.
//
// How to use: fill an SmoBatch and call smo. The cost depends on the features of the hypotheses only; the
// weights of other features do not change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiero {

struct SmoBatch {
  std::span<const std::int32_t> offsets;  // hypotheses of sentence i are offsets[i] to offsets[i + 1]
  std::span<const std::int32_t> oracles;  // by sentence: index of e* among the hypotheses of the batch
  std::span<const double> losses;         // by hypothesis
  // Feature rows of the hypotheses in CSR form; a row has a feature at most once.
  std::span<const std::int32_t> row_offsets;
  std::span<const std::int32_t> ids;
  std::span<const double> values;
};

struct SmoLimits {
  double c;          // C, > 0
  double tolerance;  // stop when the duality gap is at most this share of the objective, > 0
};

struct SmoSolution {
  // w' - w by feature of the batch that may change, ids ascending.
  std::vector<std::int32_t> ids;
  std::vector<double> changes;
  std::vector<double> alphas;  // by hypothesis
  double objective = 0.0;
  double gap = 0.0;  // duality gap: the objective is at most this far above its minimum
  int sweeps = 0;    // passes over all sentences; there are more for larger c
};

// Returns w' for w = `weights`; weights of features that are `fixed` do not change (empty: none is fixed).
// The gap is above the tolerance only where rounding hides further progress. Throws std::invalid_argument for
// arrays that do not fit, ids beyond the weights, sentences without hypotheses and values that are not
// finite.
SmoSolution smo(const SmoBatch& batch, std::span<const double> weights, std::span<const bool> fixed,
                const SmoLimits& limits);

}  // namespace hiero
