// The weights that MIRA moves to for a batch of sentences (Chiang et al. 2008, section 2.1):
//
//   min over w' of 1/2 |w' - w|^2 + C sum_i max_j (l_ij - (h(e*_i) - h(e_ij)) . w'),
//
// by sequential minimal optimisation of its dual: each sentence spreads C over its hypotheses, alpha_ij, at
// first all of it on the oracle e*, and w' = w + sum_ij alpha_ij (h(e*_i) - h(e_ij)). A step moves weight
// between two hypotheses of a sentence as far as it lowers the objective.
//
// How to use: fill an SmoBatch and call smo. The cost is that of the features that are not 0: those of no
// hypothesis keep their weights and are never looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiero {

struct SmoBatch {
  std::span<const std::int32_t> offsets;  // hypotheses of sentence i are offsets[i] to offsets[i + 1]
  std::span<const std::int32_t> oracles;  // by sentence: which hypothesis is e*, counted from 0 in the batch
  std::span<const double> losses;         // by hypothesis
  // Features of hypotheses, row by row; each once a row.
  std::span<const std::int32_t> row_offsets;
  std::span<const std::int32_t> ids;
  std::span<const double> values;
};

struct SmoLimits {
  double c;          // the longest step a sentence can bring about, > 0
  double tolerance;  // stop when the duality gap is at most this share of the objective, > 0
};

struct SmoSolution {
  // By feature of the batch that may change: w' - w, ids rising.
  std::vector<std::int32_t> ids;
  std::vector<double> changes;
  std::vector<double> alphas;  // by hypothesis
  double objective = 0.0;
  double gap = 0.0;  // by how much the objective may still be above its least value
  int sweeps = 0;    // over all sentences; the more, the larger c is
};

// `weights` are w; features that are `fixed`, none where this is empty, keep theirs. A gap is above the
// tolerance only where rounding hides what more steps would do. Throws
// std::invalid_argument for arrays that do not fit, ids beyond the weights, sentences without hypotheses and
// values that are not finite.
SmoSolution smo(const SmoBatch& batch, std::span<const double> weights, std::span<const bool> fixed,
                const SmoLimits& limits);

}  // namespace hiero
