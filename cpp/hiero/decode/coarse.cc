#include "hiero/decode/coarse.h"

#include <algorithm>
#include <limits>

namespace hiero {

double CoarsePass::score(const Application& application, double target) const {
  double sum = target;
  for (CellId tail : application.tails) {
    if (tail != kNoCell) sum += inside_[tail];
  }
  return sum;
}

void CoarsePass::run(const Chart& chart, const SentenceTargets& targets) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  inside_.assign(chart.cells.size(), kNever);
  outside_.assign(chart.cells.size(), kNever);
  for (CellId id = 0; id < chart.cells.size(); ++id) {
    const Cell& cell = chart.cells[id];
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      const double inside = score(chart.applications[a], targets.targets(a)[0].score);
      inside_[id] = std::max(inside_[id], inside);
    }
  }
  best_ = inside_[chart.goal];
  outside_[chart.goal] = 0;
  for (CellId id = static_cast<CellId>(chart.cells.size()); id-- > 0;) {
    const Cell& cell = chart.cells[id];
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      const Application& application = chart.applications[a];
      const double through = outside_[id] + score(application, targets.targets(a)[0].score);
      for (CellId tail : application.tails) {
        if (tail != kNoCell) outside_[tail] = std::max(outside_[tail], through - inside_[tail]);
      }
    }
  }
}

void CoarsePass::prune(double threshold, Chart& chart, SentenceTargets& targets) {
  // The same derivation summed in another order may differ in the last bits.
  const double least = best_ - threshold - 1e-6;
  kept_.clear();
  renumber_.assign(chart.cells.size(), kNoCell);
  CellId cells = 0;
  for (CellId id = 0; id < chart.cells.size(); ++id) {
    Cell cell = chart.cells[id];
    const auto first = static_cast<std::uint32_t>(kept_.size());
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      Application application = chart.applications[a];
      if (outside_[id] + score(application, targets.targets(a)[0].score) < least) continue;
      application.cell = cells;
      for (CellId& tail : application.tails) {
        if (tail != kNoCell) tail = renumber_[tail];
      }
      chart.applications[kept_.size()] = application;
      kept_.push_back(a);
    }
    cell.first = first;
    cell.last = static_cast<std::uint32_t>(kept_.size());
    if (cell.first == cell.last) continue;
    renumber_[id] = cells;
    chart.cells[cells++] = cell;
  }
  for (CellId id = 0; id < renumber_.size(); ++id) {
    if (renumber_[id] == kNoCell) continue;
    inside_[renumber_[id]] = inside_[id];
    outside_[renumber_[id]] = outside_[id];
  }
  chart.goal = renumber_[chart.goal];
  chart.applications.resize(kept_.size());
  chart.cells.resize(cells);
  targets.keep_applications(kept_);
}

}  // namespace hiero
