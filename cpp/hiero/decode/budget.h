// How many hypotheses the search makes in each cell. A sentence has a budget of pop_limit hypotheses for each
// span that has cells and at most 10 words, or begins with the sentence, and a fiftieth of that for each cell
// of a further label over such a span, not counting the goal's: matching many labels takes so long that
// hypotheses cost little beside it. Other spans share the budget: longer rules add many of them, and search
// would take half as long again for hardly better translations. A sentence with few spans has the budget of
// min(80, 0.4 pop_limit) spans: searching small sentences to the end costs little, where the limit allows it
// at all. The budget is divided among the cells in proportion to
//   min(span length, span_limit) * exp(-c gap / mean gap),
//   c = (3.1 - 0.8 log10(pop_limit), from 0 to 2) + 1.6 log10(labels of a span, on average),
// where the gap is how far the best derivation through the cell is below the best of all (coarse.h). Short
// spans have few hypotheses worth making, and cells off the best derivations seldom matter, the less so the
// fewer hypotheses there are for each. The shares do not change when all weights are multiplied by a number.
//
// What a cell cannot use goes to the others: before the search, according to upper bounds on the hypotheses
// that a cell has at all, so that small sentences are searched to the end; during the search, whatever a cell
// leaves goes to later cells.
//
// How to use: start() once per sentence; then, cell by cell in their order, limit() and spent().
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/search_context.h"

namespace hiero {

class HypothesisBudget {
 public:
  void start(const SearchContext& context);
  // Hypotheses that the next cell may make, at least 1.
  std::uint64_t limit(CellId cell) const;
  // Ends a cell that has made this many hypotheses.
  void spent(CellId cell, std::uint64_t hypotheses);

 private:
  void bound_needs(const SearchContext& context);
  void weigh_cells(const SearchContext& context);
  void fill(double budget);

  double spans_ = 0;   // spans with cells that count in the budget
  double labels_ = 1;  // labels over such a span on average, without the goal, at least 1
  bool unlimited_ = false;
  std::vector<double> needs_;    // by cell: upper bounds on the number of its hypotheses
  std::vector<double> weights_;  // by cell
  std::vector<double> shares_;   // by cell
  double left_ = 0;              // rest of the budget
  double planned_ = 0;           // sum of the shares of the cells to come
};

}  // namespace hiero
