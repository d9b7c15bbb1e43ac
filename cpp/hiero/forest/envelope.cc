#include "hiero/forest/envelope.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "hiero/forest/inside_outside.h"

namespace hiero {
namespace {

using Line = EnvelopeSemiring::Line;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where lines are longer than that, differences overflow and crossings have no order.
constexpr double kLongest = 1e150;

const Line& checked(const Line& line) {
  if (!(std::abs(line.slope) <= kLongest) || !(std::abs(line.intercept) <= kLongest)) {
    throw std::invalid_argument("scores of a derivation are beyond 1e150");
  }
  return line;
}

// Adds a line of no smaller slope than any before to an envelope.
void push(std::vector<Line>& lines, const Line& line) {
  if (!lines.empty() && lines.back().slope == line.slope) {
    if (!(line.intercept > lines.back().intercept)) return;
    lines.pop_back();
  }
  // The last one never wins if the new one overtakes it before it has overtaken the one before.
  while (lines.size() > 1 &&
         !(crossing(lines[lines.size() - 2], lines.back()) < crossing(lines.back(), line))) {
    lines.pop_back();
  }
  lines.push_back(line);
}

// Where piece i begins to win.
double begin_of(const std::vector<Line>& lines, std::size_t i) {
  if (i == 0) return -kInfinity;
  return i == lines.size() ? kInfinity : crossing(lines[i - 1], lines[i]);
}

std::vector<EdgeIndex> edges_of(const std::vector<EnvelopeSemiring::Origin>& origins, std::int32_t root) {
  std::vector<EdgeIndex> edges;
  std::vector<std::int32_t> open{root};
  while (!open.empty()) {
    const std::int32_t top = open.back();
    open.pop_back();
    if (top < 0) continue;
    const auto& origin = origins[top];
    if (origin.edge >= 0) extend_derivation(edges, origin.edge);
    open.push_back(origin.right);
    open.push_back(origin.left);
  }
  return edges;
}

}  // namespace

EnvelopeSemiring::Value EnvelopeSemiring::line(EdgeIndex edge, double intercept, double slope) const {
  origins->push_back({edge, -1, -1});
  return {checked({slope, intercept, static_cast<std::int32_t>(origins->size() - 1)})};
}

EnvelopeSemiring::Value EnvelopeSemiring::plus(const Value& a, const Value& b) const {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Value out;
  out.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].slope <= b[j].slope);
    push(out, from_a ? a[i++] : b[j++]);
  }
  return out;
}

EnvelopeSemiring::Value EnvelopeSemiring::times(const Value& a, const Value& b) const {
  Value out;
  if (a.empty() || b.empty()) return out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    std::int32_t origin = a[i].origin < 0 ? b[j].origin : a[i].origin;
    if (a[i].origin >= 0 && b[j].origin >= 0) {
      origins->push_back({-1, a[i].origin, b[j].origin});
      origin = static_cast<std::int32_t>(origins->size() - 1);
    }
    push(out, checked({a[i].slope + b[j].slope, a[i].intercept + b[j].intercept, origin}));
    if (i + 1 == a.size() && j + 1 == b.size()) return out;
    const double next_a = begin_of(a, i + 1);
    const double next_b = begin_of(b, j + 1);
    if (next_a <= next_b && i + 1 < a.size()) ++i;
    if (next_b <= next_a && j + 1 < b.size()) ++j;
  }
}

std::vector<WinningDerivation> envelope(const Hypergraph& forest, std::span<const double> intercepts,
                                        std::span<const double> slopes) {
  check_edge_values(forest, intercepts, false, "intercepts");
  check_edge_values(forest, slopes, false, "slopes");
  std::vector<WinningDerivation> out;
  if (forest.root < 0) return out;
  std::vector<EnvelopeSemiring::Origin> origins;
  const EnvelopeSemiring semiring{&origins};
  const auto weight = [&](EdgeIndex e) { return semiring.line(e, intercepts[e], slopes[e]); };
  const auto lines = inside(forest, semiring, weight)[forest.root];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.push_back(
        {begin_of(lines, i), lines[i].slope, lines[i].intercept, edges_of(origins, lines[i].origin)});
  }
  return out;
}

}  // namespace hiero
