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

// Removes most of the lines that never win, so that few must be sorted: lines below the crossing of two lines
// with a smaller and a greater slope, by more than the rounding error, so that the envelope stays the same.
void drop_losers(std::vector<ScoreLine>& lines) {
  if (lines.empty()) return;
  ScoreLine first = lines.front();
  ScoreLine last = first;
  for (const ScoreLine& line : lines) {
    if (line.slope < first.slope || (line.slope == first.slope && line.intercept > first.intercept))
      first = line;
    if (line.slope > last.slope || (line.slope == last.slope && line.intercept > last.intercept)) last = line;
  }
  if (first.slope == last.slope) return;
  const double between = crossing(first, last);
  const auto value = [](const ScoreLine& line, double gamma) { return line.intercept + gamma * line.slope; };
  ScoreLine middle = first;
  double highest = value(first, between);
  for (const ScoreLine& line : lines) {
    const double height = value(line, between);
    if (height > highest) {
      highest = height;
      middle = line;
    }
  }
  const bool inside = first.slope < middle.slope && middle.slope < last.slope;
  const double before = inside ? crossing(first, middle) : between;
  const double after = inside ? crossing(middle, last) : between;
  std::erase_if(lines, [&](const ScoreLine& line) {
    const bool early = inside && line.slope <= middle.slope;
    const double gamma = early || !inside ? before : after;
    const double bar = value(early || !inside ? first : last, gamma);
    const double height = value(line, gamma);
    const double rounding = 1e-12 * (std::abs(bar) + std::abs(line.intercept) + std::abs(gamma * line.slope));
    return height < bar - rounding;
  });
}

// Sorts the lines of a sentence and puts the pieces of their upper envelope, from left to right, into
// `pieces`.
void envelope(std::vector<ScoreLine>& lines, std::vector<Segment>& pieces) {
  drop_losers(lines);
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
    lines.clear();
    for (std::int32_t i = offsets[s]; i < offsets[s + 1]; ++i) lines.push_back({slopes[i], intercepts[i], i});
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
