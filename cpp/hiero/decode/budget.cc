#include "hiero/decode/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hiero {
namespace {

constexpr double kLeastSpans = 80;  // a smaller sentence has the budget of so many,
constexpr double kOfLimit = 0.4;    // but of no more than this times the pop limit
constexpr double kOfLabel = 0.02;   // what a further label over a span adds to the hypotheses of the span
constexpr double kMany = 1e15;      // bounds grow exponentially; integers up to here are exact

// Cells of one span follow each other.
std::uint32_t count_spans(const Matches& matches) {
  std::uint32_t spans = 0;
  const Cell* last = nullptr;
  for (const Cell& cell : matches.cells) {
    spans += !last || cell.begin != last->begin || cell.end != last->end;
    last = &cell;
  }
  return spans;
}

// Cells of other labels than the goal's.
double count_labelled(const Matches& matches) {
  const LabelId goal = matches.cells[matches.goal].label;
  return static_cast<double>(
      std::ranges::count_if(matches.cells, [goal](const Cell& cell) { return cell.label != goal; }));
}

}  // namespace

void HypothesisBudget::start(const Matches& matches, const SentenceTargets& targets, const CoarsePass& coarse,
                             const DecoderOptions& options) {
  unlimited_ = options.pop_limit == 0 || matches.goal == kNoCell;  // without a goal there are no cells
  if (unlimited_) return;
  bound_needs(matches, targets, options.beam_size);
  spans_ = count_spans(matches);
  labels_ = std::max(1.0, count_labelled(matches) / spans_);
  weigh(matches, coarse, options);
  const double limit = options.pop_limit;
  left_ =
      limit * (std::max(spans_, std::min(kLeastSpans, kOfLimit * limit)) + kOfLabel * spans_ * (labels_ - 1));
  fill(left_);
}

// Items are at most as many as hypotheses.
void HypothesisBudget::bound_needs(const Matches& matches, const SentenceTargets& targets,
                                   std::uint32_t beam_size) {
  const double most_items = beam_size > 0 ? beam_size : kMany;
  needs_.assign(matches.cells.size(), 0);
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    for (std::uint32_t a = matches.cells[id].first; a < matches.cells[id].last; ++a) {
      auto hypotheses = static_cast<double>(targets.count(a));
      for (CellId tail : matches.tails(matches.applications[a]))
        hypotheses *= std::min(needs_[tail], most_items);
      needs_[id] = std::min(needs_[id] + hypotheses, kMany);
    }
  }
}

void HypothesisBudget::weigh(const Matches& matches, const CoarsePass& coarse,
                             const DecoderOptions& options) {
  const auto count = static_cast<CellId>(matches.cells.size());
  double sum = 0;
  for (CellId id = 0; id < count; ++id) sum += coarse.gap(id);
  const double decay =
      std::clamp(3.1 - 0.8 * std::log10(options.pop_limit), 0.0, 2.0) + 1.6 * std::log10(labels_);
  // A mean gap of 0 means that all gaps are.
  const double scale = sum > 0 ? decay * count / sum : 0.0;
  weights_.resize(count);
  for (CellId id = 0; id < count; ++id) {
    const std::uint32_t length =
        std::min(matches.cells[id].end - matches.cells[id].begin, options.span_limit);
    weights_[id] = length * std::exp(-scale * coarse.gap(id));
  }
}

// Cells whose need is below their share get what they need, and the others share the rest, until no need is
// below its share. A round settles all cells whose weights are within a few powers of e: there are few.
void HypothesisBudget::fill(double budget) {
  const std::size_t count = weights_.size();
  shares_ = needs_;
  planned_ = std::accumulate(needs_.begin(), needs_.end(), 0.0);
  if (planned_ <= budget) return;
  shares_.assign(count, -1);
  double factor = 0;
  for (bool changed = true; changed;) {
    double total = 0;
    for (std::size_t id = 0; id < count; ++id) total += shares_[id] < 0 ? weights_[id] : 0;
    // A difference of rounded sums; a cell's part of nothing is nothing.
    factor = total > 0 ? std::max(budget, 0.0) / total : 0.0;
    changed = false;
    for (std::size_t id = 0; id < count; ++id) {
      if (shares_[id] >= 0 || needs_[id] > factor * weights_[id]) continue;
      shares_[id] = needs_[id];
      budget -= needs_[id];
      changed = true;
    }
  }
  planned_ = 0;
  for (std::size_t id = 0; id < count; ++id) {
    if (shares_[id] < 0) shares_[id] = factor * weights_[id];
    planned_ += shares_[id];
  }
}

std::uint64_t HypothesisBudget::limit(CellId cell) const {
  if (unlimited_) return ~std::uint64_t{0};
  const double factor = left_ > planned_ && planned_ > 0 ? left_ / planned_ : 1.0;
  const double limit = std::min(shares_[cell] * factor, kMany);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limit + 0.5));
}

void HypothesisBudget::spent(CellId cell, std::uint64_t hypotheses) {
  if (unlimited_) return;
  left_ -= static_cast<double>(hypotheses);
  planned_ -= shares_[cell];
}

}  // namespace hiero
