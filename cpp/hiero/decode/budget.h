// How many hypotheses the search makes in each cell. A sentence has pop_limit hypotheses for each span that
// has cells, and a fiftieth of that for each cell of a further label over it, the goal's apart: to match many
// labels takes so long that hypotheses cost little beside it. Where it has fewer spans than 80, and than
// 0.4 pop_limit, it has the hypotheses of so many: small sentences cost little to be searched to the end,
// where the limit is such that they can be. Hypotheses are shared out over the cells in proportion to
//   min(span length, span_limit) * exp(-c gap / mean gap),
//   c = (3.1 - 0.8 log10(pop_limit), from 0 to 2) + 1.6 log10(labels of a span, on average),
// where the gap is how far the best derivation through the cell is below the best of all (coarse.h). Short
// spans have few hypotheses worth making, and cells off the best derivations seldom matter, the less so the
// fewer hypotheses there are for each. The shares do not change when all weights are multiplied by a number.
//
// What a cell cannot use serves the others: before the search, as far as bounds tell how many hypotheses
// there are at all, so that small sentences are searched to the end; during it, what is left over serves
// later cells.
//
// How to use: start() once per sentence; then, cell by cell in their order, limit() and spent().
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/decode/coarse.h"
#include "hiero/decode/matches.h"
#include "hiero/decode/options.h"
#include "hiero/decode/targets.h"

namespace hiero {

class HypothesisBudget {
 public:
  void start(const Matches& matches, const SentenceTargets& targets, const CoarsePass& coarse,
             const DecoderOptions& options);
  // Hypotheses that the next cell may make, at least 1.
  std::uint64_t limit(CellId cell) const;
  // The cell is done and has made so many.
  void spent(CellId cell, std::uint64_t hypotheses);

 private:
  void bound_needs(const Matches& matches, const SentenceTargets& targets, std::uint32_t beam_size);
  void weigh(const Matches& matches, const CoarsePass& coarse, const DecoderOptions& options);
  void fill(double budget);

  double spans_ = 0;   // that have cells
  double labels_ = 1;  // over a span on average, the goal apart, at least 1
  bool unlimited_ = false;
  std::vector<double> needs_;  // by cell: as many hypotheses there are at most
  std::vector<double> weights_;
  std::vector<double> shares_;
  double left_ = 0;     // of the budget
  double planned_ = 0;  // shares of the cells to come
};

}  // namespace hiero
