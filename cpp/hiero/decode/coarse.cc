#include "hiero/decode/coarse.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hiero {

double CoarsePass::score(std::span<const CellId> tails, double target) const {
  double sum = target;
  for (CellId tail : tails) sum += inside_[tail];
  return sum;
}

CoarsePass::CoarsePass(const Matches& matches, SentenceTargets& targets) {
  if (matches.goal == kNoCell) return;
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  inside_.assign(matches.cells.size(), kNever);
  outside_.assign(matches.cells.size(), kNever);
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    const Cell& cell = matches.cells[id];
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      const double inside = score(matches.tails(matches.applications[a]), targets.best(a));
      inside_[id] = std::max(inside_[id], inside);
    }
  }
  best_ = inside_[matches.goal];
  rounding_ = 1e-9 * std::max(1.0, std::abs(best_));
  outside_[matches.goal] = 0;
  for (CellId id = static_cast<CellId>(matches.cells.size()); id-- > 0;) {
    const Cell& cell = matches.cells[id];
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      const std::span<const CellId> tails = matches.tails(matches.applications[a]);
      const double through = outside_[id] + score(tails, targets.best(a));
      for (CellId tail : tails) outside_[tail] = std::max(outside_[tail], through - inside_[tail]);
    }
  }
}

}  // namespace hiero
