#include "hiero/forest/envelope.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {
namespace {

using Line = EnvelopeSemiring::Line;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Beyond this size of slopes and intercepts, differences overflow, and crossings have no order.
constexpr double kLongest = 1e150;

// Appends a line, whose slope is not below that of any line before, to an envelope.
void push(std::vector<Line>& lines, double slope, double intercept, std::int32_t origin) {
  if (!lines.empty() && lines.back().slope == slope) {
    if (!(intercept > lines.back().intercept)) return;
    lines.pop_back();
  }
  double begin = -kInfinity;
  while (!lines.empty()) {
    begin = (lines.back().intercept - intercept) / (slope - lines.back().slope);
    // The last line never wins if the new line overtakes it before it overtakes the line before it.
    if (lines.size() == 1 || lines.back().begin < begin) break;
    lines.pop_back();
  }
  lines.push_back({slope, intercept, begin, origin});
}

void push_checked(std::vector<Line>& lines, double slope, double intercept, std::int32_t origin) {
  if (!(std::abs(slope) <= kLongest) || !(std::abs(intercept) <= kLongest)) {
    throw std::invalid_argument("scores of a derivation are beyond 1e150");
  }
  push(lines, slope, intercept, origin);
}

std::int32_t add_origin(std::vector<EnvelopeSemiring::Origin>& origins, EnvelopeSemiring::Origin origin) {
  if (origins.size() == std::numeric_limits<std::int32_t>::max()) {
    throw std::length_error("the forest's envelope is too large: prune the forest");
  }
  origins.push_back(origin);
  return static_cast<std::int32_t>(origins.size() - 1);
}

// Tells whether all lines of b are below the envelope a, which is the usual case in forests.
bool below(const std::vector<Line>& b, const std::vector<Line>& a) {
  if (a.empty()) return b.empty();
  std::size_t i = 0;
  for (const Line& line : b) {
    while (i < a.size() && a[i].slope < line.slope) ++i;
    if (i == a.size()) return false;
    if (a[i].slope == line.slope) {
      if (line.intercept > a[i].intercept) return false;
      continue;
    }
    // The line is nearest to the envelope where the next steeper line begins.
    const double place = a[i].begin;
    if (i == 0 || !(line.intercept + line.slope * place < a[i].intercept + a[i].slope * place)) return false;
  }
  return true;
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

void EnvelopeSemiring::set_line(Value& a, EdgeIndex edge, double intercept, double slope) const {
  a.clear();
  push_checked(a, slope, intercept, add_origin(*origins, {edge, -1, -1}));
}

void EnvelopeSemiring::add(Value& a, const Value& b) const {
  if (below(b, a)) return;
  scratch->clear();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].slope <= b[j].slope);
    const Line& next = from_a ? a[i++] : b[j++];
    push(*scratch, next.slope, next.intercept, next.origin);
  }
  a.swap(*scratch);
}

void EnvelopeSemiring::multiply(Value& a, const Value& b) const {
  scratch->clear();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    std::int32_t origin = a[i].origin < 0 ? b[j].origin : a[i].origin;
    if (a[i].origin >= 0 && b[j].origin >= 0) origin = add_origin(*origins, {-1, a[i].origin, b[j].origin});
    push_checked(*scratch, a[i].slope + b[j].slope, a[i].intercept + b[j].intercept, origin);
    if (i + 1 == a.size() && j + 1 == b.size()) break;
    const double next_a = i + 1 < a.size() ? a[i + 1].begin : kInfinity;
    const double next_b = j + 1 < b.size() ? b[j + 1].begin : kInfinity;
    if (next_a <= next_b && i + 1 < a.size()) ++i;
    if (next_b <= next_a && j + 1 < b.size()) ++j;
  }
  a.swap(*scratch);
}

EnvelopeSemiring::Value EnvelopeSemiring::plus(Value a, const Value& b) const {
  add(a, b);
  return a;
}

EnvelopeSemiring::Value EnvelopeSemiring::times(Value a, const Value& b) const {
  multiply(a, b);
  return a;
}

std::vector<WinningDerivation> envelope(const Hypergraph& forest, std::span<const double> intercepts,
                                        std::span<const double> slopes) {
  check_edge_values(forest, intercepts, false, "intercepts");
  check_edge_values(forest, slopes, false, "slopes");
  std::vector<WinningDerivation> out;
  if (forest.root < 0) return out;
  std::vector<EnvelopeSemiring::Origin> origins;
  EnvelopeSemiring::Value scratch;
  const EnvelopeSemiring semiring{&origins, &scratch};
  const auto weight = [&](EdgeIndex e, EnvelopeSemiring::Value& a) {
    semiring.set_line(a, e, intercepts[e], slopes[e]);
  };
  const auto lines = inside_in_place(forest, semiring, weight)[forest.root];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out.push_back({lines[i].begin, lines[i].slope, lines[i].intercept, edges_of(origins, lines[i].origin)});
  }
  return out;
}

EnvelopeArrays envelope_arrays(const Hypergraph& forest, std::span<const double> intercepts,
                               std::span<const double> slopes) {
  EnvelopeArrays out;
  for (const WinningDerivation& winner : envelope(forest, intercepts, slopes)) {
    out.begins.push_back(winner.begin);
    out.intercepts.push_back(winner.intercept);
    out.slopes.push_back(winner.slope);
    const std::vector<std::int32_t> words = yield_words(forest, winner.edges);
    out.words.insert(out.words.end(), words.begin(), words.end());
    out.word_offsets.push_back(array_offset(out.words.size()));
  }
  return out;
}

}  // namespace hiero
