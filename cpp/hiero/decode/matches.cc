#include "hiero/decode/matches.h"

namespace hiero {

void UselessCells::drop(Matches& matches) {
  const auto cells = static_cast<CellId>(matches.cells.size());
  useful_.assign(cells, 0);
  if (matches.goal != kNoCell) useful_[matches.goal] = 1;
  for (CellId cell = cells; cell-- > 0;) {
    if (!useful_[cell]) continue;
    for (std::uint32_t a = matches.cells[cell].first; a < matches.cells[cell].last; ++a) {
      for (const CellId tail : matches.tails(matches.applications[a])) useful_[tail] = 1;
    }
  }
  renumber_.resize(cells);
  tail_cells_.clear();
  CellId kept = 0;
  std::uint32_t applications = 0;
  for (CellId cell = 0; cell < cells; ++cell) {
    if (!useful_[cell]) continue;
    Cell useful = matches.cells[cell];
    const std::uint32_t first = applications;
    for (std::uint32_t a = useful.first; a < useful.last; ++a) {
      Application application = matches.applications[a];
      application.cell = kept;
      const std::span<const CellId> tails = matches.tails(application);
      application.first_tail = static_cast<std::uint32_t>(tail_cells_.size());
      for (const CellId tail : tails) tail_cells_.push_back(renumber_[tail]);
      matches.applications[applications++] = application;
    }
    useful.first = first;
    useful.last = applications;
    renumber_[cell] = kept;
    matches.cells[kept++] = useful;
  }
  matches.cells.resize(kept);
  matches.applications.resize(applications);
  matches.tail_cells.swap(tail_cells_);
  if (matches.goal != kNoCell) matches.goal = renumber_[matches.goal];
}

}  // namespace hiero
