#include "hiero/decode/coarse.h"

#include <algorithm>
#include <cmath>
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

void CoarsePass::allot(const Chart& chart, std::uint32_t pop_limit, std::uint32_t span_limit,
                       std::vector<std::uint64_t>& limits) const {
  const auto count = static_cast<CellId>(chart.cells.size());
  limits.assign(count, pop_limit == 0 ? ~std::uint64_t{0} : 1);
  if (pop_limit == 0 || count == 0) return;
  double sum = 0;
  for (CellId id = 0; id < count; ++id) sum += gap(id);
  // A mean gap of 0 means that all gaps are.
  const double scale = sum > 0 ? 2.0 * count / sum : 0.0;
  const auto weight = [&](CellId id) {
    const std::uint32_t length = std::min(chart.cells[id].end - chart.cells[id].begin, span_limit);
    return length * std::exp(-scale * gap(id));
  };
  double total = 0;
  for (CellId id = 0; id < count; ++id) total += weight(id);
  for (CellId id = 0; id < count; ++id) {
    const double share = static_cast<double>(pop_limit) * count * weight(id) / total;
    limits[id] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share + 0.5));
  }
}

}  // namespace hiero
