#include "hiero/tune/line_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace hiero {
namespace {

struct ScoreLine {
  double slope;
  double intercept;
  std::int32_t hypothesis;
};

struct Segment {
  double begin;  // gamma from which it wins
  const ScoreLine* line;
};

struct Change {
  double gamma;
  std::int32_t from;
  std::int32_t to;
};

void check(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
           std::span<const double> slopes) {
  if (intercepts.size() != slopes.size()) throw std::invalid_argument("one slope per intercept expected");
  if (offsets.empty() || offsets.front() != 0 ||
      static_cast<std::size_t>(offsets.back()) != intercepts.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw std::invalid_argument("offsets: expected to rise from 0 to the number of hypotheses");
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(intercepts.begin(), intercepts.end(), finite) ||
      !std::all_of(slopes.begin(), slopes.end(), finite)) {
    throw std::invalid_argument("scores of hypotheses are not finite");
  }
}

bool left_of(const ScoreLine& a, const ScoreLine& b) {
  if (a.slope != b.slope) return a.slope < b.slope;
  if (a.intercept != b.intercept) return a.intercept > b.intercept;
  return a.hypothesis < b.hypothesis;
}

double crossing(const ScoreLine& a, const ScoreLine& b) {
  return (a.intercept - b.intercept) / (b.slope - a.slope);
}

// The hypotheses of a sentence: [begin, end) of all intercepts and slopes.
struct Hypotheses {
  std::span<const double> intercepts;
  std::span<const double> slopes;
  std::int32_t begin;
  std::int32_t end;

  ScoreLine line(std::int32_t i) const { return {slopes[i], intercepts[i], i}; }
};

// The lines with the least and the greatest slope, of parallel ones the highest, and the greatest absolute
// slope and intercept.
struct Extremes {
  ScoreLine first;
  ScoreLine last;
  double slope = 0;
  double intercept = 0;

  explicit Extremes(const Hypotheses& all) : first(all.line(all.begin)), last(first) {
    for (std::int32_t i = all.begin; i < all.end; ++i) {
      const double a = all.slopes[i];
      const double b = all.intercepts[i];
      if (a < first.slope || (a == first.slope && b > first.intercept)) first = all.line(i);
      if (a > last.slope || (a == last.slope && b > last.intercept)) last = all.line(i);
      intercept = std::max(intercept, std::abs(b));
    }
    slope = std::max(std::abs(first.slope), std::abs(last.slope));
  }
};

ScoreLine highest(const Hypotheses& all, double gamma) {
  std::int32_t best = all.begin;
  double height = -std::numeric_limits<double>::infinity();
  for (std::int32_t i = all.begin; i < all.end; ++i) {
    const double h = all.intercepts[i] + gamma * all.slopes[i];
    if (h > height) {
      height = h;
      best = i;
    }
  }
  return all.line(best);
}

// Puts the lines of a sentence into `lines`, without most of those that never win, so that few must be
// sorted: without lines below the crossing of two lines with a smaller and a greater slope, by more than the
// rounding error, so that the envelope stays the same. Three lines are enough to find them: a line that is
// below both crossings of neighbours among these three never wins, and one that is above one of them might.
void collect(const Hypotheses& all, std::vector<ScoreLine>& lines) {
  lines.clear();
  if (all.begin == all.end) return;
  const Extremes extremes(all);
  const ScoreLine& first = extremes.first;
  const ScoreLine& last = extremes.last;
  if (first.slope == last.slope) {  // as with features that seldom differ
    lines.push_back(first);
    return;
  }
  const double between = crossing(first, last);
  const ScoreLine middle = highest(all, between);
  const bool inside = first.slope < middle.slope && middle.slope < last.slope;
  // A crossing, and the height below which a line is out there.
  struct Bar {
    double gamma;
    double height;
  };
  const auto bar = [&](const ScoreLine& line, double gamma) {
    const double height = line.intercept + gamma * line.slope;
    const double rounding = std::abs(height) + extremes.intercept + std::abs(gamma) * extremes.slope;
    return Bar{gamma, height - 1e-12 * rounding};
  };
  const Bar before = bar(first, inside ? crossing(first, middle) : between);
  const Bar after = bar(last, inside ? crossing(middle, last) : between);
  for (std::int32_t i = all.begin; i < all.end; ++i) {
    const double a = all.slopes[i];
    const double b = all.intercepts[i];
    if (!(b + before.gamma * a < before.height) || !(b + after.gamma * a < after.height))
      lines.push_back(all.line(i));
  }
}

// Sorts lines and puts the pieces of their upper envelope, from left to right, into `pieces`.
void envelope(std::vector<ScoreLine>& lines, std::vector<Segment>& pieces) {
  std::sort(lines.begin(), lines.end(), left_of);
  pieces.clear();
  for (const ScoreLine& line : lines) {
    double begin = -std::numeric_limits<double>::infinity();
    while (!pieces.empty()) {
      const ScoreLine& top = *pieces.back().line;
      if (line.slope == top.slope) break;
      begin = crossing(top, line);
      if (begin > pieces.back().begin) break;
      pieces.pop_back();
      begin = -std::numeric_limits<double>::infinity();
    }
    if (pieces.empty()) {
      pieces.push_back({begin, &line});
    } else if (line.slope != pieces.back().line->slope && begin < std::numeric_limits<double>::infinity()) {
      pieces.push_back({begin, &line});
    }
  }
}

}  // namespace

WinnerChanges line_search(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
                          std::span<const double> slopes) {
  check(offsets, intercepts, slopes);
  WinnerChanges out;
  std::vector<Change> changes;
  std::vector<ScoreLine> lines;
  std::vector<Segment> pieces;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    collect({intercepts, slopes, offsets[s], offsets[s + 1]}, lines);
    envelope(lines, pieces);
    out.first.push_back(pieces.empty() ? -1 : pieces.front().line->hypothesis);
    for (std::size_t k = 1; k < pieces.size(); ++k)
      changes.push_back({pieces[k].begin, pieces[k - 1].line->hypothesis, pieces[k].line->hypothesis});
  }
  // Hypotheses are numbered by sentence.
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.gamma != b.gamma ? a.gamma < b.gamma : a.to < b.to;
  });
  for (const Change& change : changes) {
    out.gamma.push_back(change.gamma);
    out.from.push_back(change.from);
    out.to.push_back(change.to);
  }
  return out;
}

}  // namespace hiero
