#include "hiero/decode/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hiero {
namespace {

constexpr std::uint32_t kLongestCounted = 10;  // words of a span that counts
constexpr double kLeastSpans = 80;             // a smaller sentence has the budget of so many spans,
constexpr double kLeastSpansByLimit = 0.4;     // but of at most this times the pop limit
constexpr double kLabelShare = 0.02;           // of a span's hypotheses, added for each further label over it
constexpr double kMany = 1e15;                 // bounds grow exponentially; integers up to here are exact

// Tells whether a span counts in the size of a sentence.
bool is_counted(const Cell& cell) { return cell.begin == 0 || cell.end - cell.begin <= kLongestCounted; }

// Returns the number of counted spans with cells; cells of one span are adjacent.
std::uint32_t count_spans(const Matches& matches) {
  std::uint32_t spans = 0;
  const Cell* last = nullptr;
  for (const Cell& cell : matches.cells) {
    const bool is_new = !last || cell.begin != last->begin || cell.end != last->end;
    spans += is_new && is_counted(cell);
    last = &cell;
  }
  return spans;
}

// Returns the number of cells over these spans whose label is not the goal's.
double count_labelled(const Matches& matches) {
  const LabelId goal = matches.cells[matches.goal].label;
  const auto is_labelled = [goal](const Cell& cell) { return cell.label != goal && is_counted(cell); };
  return static_cast<double>(std::ranges::count_if(matches.cells, is_labelled));
}

}  // namespace

void HypothesisBudget::start(const SearchContext& context) {
  const Matches& matches = context.matches;
  unlimited_ =
      context.options.pop_limit == 0 || matches.goal == kNoCell;  // without a goal there are no cells
  if (unlimited_) return;
  bound_needs(context);
  spans_ = count_spans(matches);
  labels_ = std::max(1.0, count_labelled(matches) / spans_);
  weigh_cells(context);
  const double limit = context.options.pop_limit;
  left_ = limit * (std::max(spans_, std::min(kLeastSpans, kLeastSpansByLimit * limit)) +
                   kLabelShare * spans_ * (labels_ - 1));
  fill(left_);
}

// Bounds the hypotheses of each cell from above; a cell has at most as many items as hypotheses.
void HypothesisBudget::bound_needs(const SearchContext& context) {
  const Matches& matches = context.matches;
  const double most_items = context.options.beam_size > 0 ? context.options.beam_size : kMany;
  needs_.assign(matches.cells.size(), 0);
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    for (std::uint32_t a = matches.cells[id].first; a < matches.cells[id].last; ++a) {
      auto hypotheses = static_cast<double>(context.targets.count(a));
      for (CellId tail : matches.tails(matches.applications[a]))
        hypotheses *= std::min(needs_[tail], most_items);
      needs_[id] = std::min(needs_[id] + hypotheses, kMany);
    }
  }
}

void HypothesisBudget::weigh_cells(const SearchContext& context) {
  const std::vector<Cell>& cells = context.matches.cells;
  const auto count = static_cast<CellId>(cells.size());
  double sum = 0;
  for (CellId id = 0; id < count; ++id) sum += context.coarse.gap(id);
  const double decay =
      std::clamp(3.1 - 0.8 * std::log10(context.options.pop_limit), 0.0, 2.0) + 1.6 * std::log10(labels_);
  const double scale = sum > 0 ? decay * count / sum : 0.0;  // a sum of 0 means that all gaps are 0
  weights_.resize(count);
  for (CellId id = 0; id < count; ++id) {
    const std::uint32_t length = std::min(cells[id].end - cells[id].begin, context.options.span_limit);
    weights_[id] = length * std::exp(-scale * context.coarse.gap(id));
  }
}

// Cells whose need is below their share get what they need, and the others share the rest, until no need is
// below its share. One round settles all cells whose weights are within a few powers of e, so rounds are few.
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
    // The budget is a difference of rounded sums and may fall below 0.
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
