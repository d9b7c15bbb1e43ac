#include "hiero/tune/smo.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

// Greatest number of steps on a sentence in one sweep, per hypothesis.
constexpr std::size_t kStepsByRow = 10;
// Number of sweeps without a new smallest gap after which the rest is taken for rounding: the gap does not
// fall in every sweep.
constexpr int kIdleSweeps = 1000;

bool rises(std::span<const std::int32_t> offsets, std::size_t end) {
  return !offsets.empty() && offsets.front() == 0 && static_cast<std::size_t>(offsets.back()) == end &&
         std::is_sorted(offsets.begin(), offsets.end());
}

bool finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

void check(const SmoBatch& batch, std::span<const double> weights, std::span<const bool> fixed,
           const SmoLimits& limits) {
  if (!rises(batch.offsets, batch.losses.size()) || batch.oracles.size() + 1 != batch.offsets.size() ||
      !rises(batch.row_offsets, batch.ids.size()) || batch.row_offsets.size() != batch.losses.size() + 1 ||
      batch.values.size() != batch.ids.size()) {
    throw std::invalid_argument("the arrays of a batch do not fit together");
  }
  for (std::size_t i = 0; i < batch.oracles.size(); ++i) {
    if (batch.oracles[i] < batch.offsets[i] || batch.oracles[i] >= batch.offsets[i + 1]) {
      throw std::invalid_argument("an oracle is none of its sentence's hypotheses");
    }
  }
  const auto has_weight = [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < weights.size();
  };
  if (!std::all_of(batch.ids.begin(), batch.ids.end(), has_weight)) {
    throw std::invalid_argument("features without weights");
  }
  if (!fixed.empty() && fixed.size() != weights.size())
    throw std::invalid_argument("expected of every feature whether it is fixed");
  const auto is_finite = [&](std::int32_t id) {
    return std::isfinite(weights[static_cast<std::size_t>(id)]);
  };
  // Only weights of the batch's features are checked: there are far more weights.
  if (!finite(batch.losses) || !finite(batch.values) || !std::ranges::all_of(batch.ids, is_finite)) {
    throw std::invalid_argument("losses, features or weights are not finite");
  }
  if (!(limits.c > 0 && limits.tolerance > 0 && std::isfinite(limits.c)))
    throw std::invalid_argument("c and tolerance are to be positive, and c finite");
}

// Solves one batch. Features of the batch that may change are renumbered in the order of their ids.
class Solver {
 public:
  Solver(const SmoBatch& batch, std::span<const double> weights, std::span<const bool> fixed,
         const SmoLimits& limits)
      : batch_(batch), limits_(limits) {
    solution_.ids.assign(batch.ids.begin(), batch.ids.end());
    std::sort(solution_.ids.begin(), solution_.ids.end());
    solution_.ids.erase(std::unique(solution_.ids.begin(), solution_.ids.end()), solution_.ids.end());
    std::erase_if(solution_.ids,
                  [&](std::int32_t id) { return !fixed.empty() && fixed[static_cast<std::size_t>(id)]; });
    solution_.changes.assign(solution_.ids.size(), 0.0);
    dense_.assign(solution_.ids.size(), 0.0);
    solution_.alphas.assign(batch.losses.size(), 0.0);
    for (const std::int32_t oracle : batch.oracles) {
      solution_.alphas[static_cast<std::size_t>(oracle)] = limits.c;
    }
    number_rows(weights);
    margins_.assign(batch.losses.size(), 0.0);
    products_.resize(batch.losses.size());
  }

  SmoSolution solve() {
    const std::size_t sentences = batch_.oracles.size();
    solution_.gap = measured_gap();
    double least = solution_.gap;
    for (int idle = 0; idle < kIdleSweeps && !is_small(solution_.gap); ++idle, ++solution_.sweeps) {
      poll_interrupts();
      for (std::size_t i = 0; i < sentences; ++i) improve(i);
      solution_.gap = measured_gap();
      if (solution_.gap < least) {
        least = solution_.gap;
        idle = 0;
      }
    }
    return std::move(solution_);
  }

 private:
  using Row = std::size_t;

  // Computes the rows by new feature numbers, and their margins l + h . w before any change.
  void number_rows(std::span<const double> weights) {
    row_begins_.push_back(0);
    for (Row row = 0; row < batch_.losses.size(); ++row) {
      double start = batch_.losses[row];
      double square = 0.0;
      for (auto at = entry(row); at < entry(row + 1); ++at) {
        start += batch_.values[at] * weights[static_cast<std::size_t>(batch_.ids[at])];
        const auto id = std::lower_bound(solution_.ids.begin(), solution_.ids.end(), batch_.ids[at]);
        if (id == solution_.ids.end() || *id != batch_.ids[at]) continue;
        numbers_.push_back(static_cast<std::size_t>(id - solution_.ids.begin()));
        values_.push_back(batch_.values[at]);
        square += batch_.values[at] * batch_.values[at];
      }
      squares_.push_back(square);
      row_begins_.push_back(numbers_.size());
      starts_.push_back(start);
    }
  }

  std::size_t entry(Row row) const { return static_cast<std::size_t>(batch_.row_offsets[row]); }
  Row begin(std::size_t sentence) const { return static_cast<Row>(batch_.offsets[sentence]); }

  // Returns l + h . w' of a row: its margin up to h* . w', which the rows of a sentence have in common.
  double margin(Row row) const { return starts_[row] + product(row, solution_.changes); }

  void measure_margins(std::size_t sentence) {
    for (Row row = begin(sentence); row < begin(sentence + 1); ++row) margins_[row] = margin(row);
  }

  // Returns the sentence's part of the duality gap, by the margins measured last.
  double sentence_gap(std::size_t sentence) const {
    const auto first = margins_.begin();
    const double most =
        *std::max_element(first + batch_.offsets[sentence], first + batch_.offsets[sentence + 1]);
    double gap = 0.0;
    for (Row row = begin(sentence); row < begin(sentence + 1); ++row) {
      gap += solution_.alphas[row] * (most - margins_[row]);
    }
    return gap;
  }

  // Measures the duality gap, and the objective.
  double measured_gap() {
    double gap = 0.0;
    double objective = 0.0;
    for (const double change : solution_.changes) objective += 0.5 * change * change;
    for (std::size_t i = 0; i < batch_.oracles.size(); ++i) {
      measure_margins(i);
      gap += sentence_gap(i);
      const double most =
          *std::max_element(margins_.begin() + batch_.offsets[i], margins_.begin() + batch_.offsets[i + 1]);
      objective += limits_.c * (most - margins_[static_cast<Row>(batch_.oracles[i])]);
    }
    solution_.objective = objective;
    return gap;
  }

  bool is_small(double gap) const { return gap <= limits_.tolerance * solution_.objective; }

  // Repeats the step from the hypothesis with the greatest gain to the one with the greatest margin until the
  // sentence's part of the gap is small.
  void improve(std::size_t sentence) {
    measure_margins(sentence);
    const double enough =
        0.1 * limits_.tolerance * solution_.objective / static_cast<double>(batch_.oracles.size());
    const Row rows = begin(sentence + 1) - begin(sentence);
    for (Row steps = 0; steps < kStepsByRow * rows && sentence_gap(sentence) > enough; ++steps) {
      const auto first = margins_.begin();
      const Row up = static_cast<Row>(
          std::max_element(first + batch_.offsets[sentence], first + batch_.offsets[sentence + 1]) - first);
      const std::vector<double>& products = products_with(up, sentence);
      Step best{up, 0.0, 0.0};
      for (Row row = begin(sentence); row < begin(sentence + 1); ++row) {
        const Step step = step_from(row, up, products[row - begin(sentence)]);
        if (step.gain > best.gain) best = step;
      }
      if (best.gain == 0.0) return;
      take(best, up, sentence);
    }
  }

  struct Step {
    Row down;
    double delta;  // the amount of alpha that moves
    double gain;   // improvement of the dual objective
  };

  // Returns the best step from `down` to `up`, whose feature vectors have the product `product`: it makes
  // their margins equal, as far as there is alpha to move. If both have the same features, w' does not
  // change, and all alpha moves.
  Step step_from(Row down, Row up, double product) const {
    const double difference = margins_[up] - margins_[down];
    const double all = solution_.alphas[down];
    const double length = std::max(squares_[up] + squares_[down] - 2 * product, 0.0);
    const double delta = length * all > difference ? difference / length : all;
    return {down, delta, delta * (difference - 0.5 * length * delta)};
  }

  // Moves alpha, changes w' along h(down) - h(up), and updates the sentence's margins.
  void take(const Step& step, Row up, std::size_t sentence) {
    const std::vector<double>& added = products_with(step.down, sentence);
    const std::vector<double>& removed = products_with(up, sentence);
    for (Row row = 0; row < added.size(); ++row) {
      margins_[begin(sentence) + row] += step.delta * (added[row] - removed[row]);
    }
    double& left = solution_.alphas[step.down];
    left = step.delta == left ? 0.0 : left - step.delta;
    solution_.alphas[up] += step.delta;
    // Features with the same value in both do not change, not even by rounding.
    add(step.down, 1.0, dense_);
    add(up, -1.0, dense_);
    for (const Row row : {step.down, up}) {
      for (std::size_t at = row_begins_[row]; at < row_begins_[row + 1]; ++at) {
        solution_.changes[numbers_[at]] += step.delta * std::exchange(dense_[numbers_[at]], 0.0);
      }
    }
  }

  // Returns the products of a row with the rows of its sentence. They are computed on first use, as few rows
  // ever get alpha.
  const std::vector<double>& products_with(Row row, std::size_t sentence) {
    std::vector<double>& products = products_[row];
    if (!products.empty()) return products;
    add(row, 1.0, dense_);
    for (Row other = begin(sentence); other < begin(sentence + 1); ++other) {
      products.push_back(product(other, dense_));
    }
    for (std::size_t at = row_begins_[row]; at < row_begins_[row + 1]; ++at) dense_[numbers_[at]] = 0.0;
    return products;
  }

  double product(Row row, const std::vector<double>& vector) const {
    double sum = 0.0;
    for (std::size_t at = row_begins_[row]; at < row_begins_[row + 1]; ++at) {
      sum += values_[at] * vector[numbers_[at]];
    }
    return sum;
  }

  void add(Row row, double factor, std::vector<double>& sums) const {
    for (std::size_t at = row_begins_[row]; at < row_begins_[row + 1]; ++at) {
      sums[numbers_[at]] += factor * values_[at];
    }
  }

  const SmoBatch& batch_;
  SmoLimits limits_;
  SmoSolution solution_;
  std::vector<std::size_t> row_begins_;
  std::vector<std::size_t> numbers_;
  std::vector<double> values_;
  std::vector<double> starts_;
  std::vector<double> margins_;
  std::vector<double> squares_;                // by row: its product with itself
  std::vector<std::vector<double>> products_;  // by row, see products_with
  std::vector<double> dense_;                  // zeros between uses
};

}  // namespace

SmoSolution smo(const SmoBatch& batch, std::span<const double> weights, std::span<const bool> fixed,
                const SmoLimits& limits) {
  check(batch, weights, fixed, limits);
  return Solver(batch, weights, fixed, limits).solve();
}

}  // namespace hiero
