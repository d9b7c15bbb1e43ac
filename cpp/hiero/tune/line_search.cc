#include "hiero/tune/line_search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace hiero {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct ScoreLine {
  double slope;
  double intercept;
  std::int32_t hypothesis;

  double height(double gamma) const { return intercept + gamma * slope; }
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

// Two numbers, which the processor computes with at once. MERT passes over all hypotheses of a pool some
// thousand times, and takes half as long with pairs.
using Pair __attribute__((vector_size(16))) = double;

Pair load(const double* at) {
  Pair pair;
  std::memcpy(&pair, at, sizeof(pair));
  return pair;
}
Pair both(double x) { return Pair{x, x}; }
Pair least(Pair a, Pair b) { return a < b ? a : b; }
Pair most(Pair a, Pair b) { return a > b ? a : b; }
double most(Pair a) { return std::max(a[0], a[1]); }

// Returns the greatest absolute value. Throws std::invalid_argument if a value is not finite.
double magnitude(std::span<const double> values) {
  Pair greatest = both(0);
  Pair zero = both(0);  // x - x is 0 for every finite number, and for no other
  const std::size_t pairs = values.size() / 2 * 2;
  for (std::size_t i = 0; i < pairs; i += 2) {
    const Pair x = load(&values[i]);
    greatest = most(greatest, most(x, -x));
    zero += x - x;
  }
  if (pairs < values.size()) {
    greatest[0] = std::max(greatest[0], std::abs(values[pairs]));
    zero[0] += values[pairs] - values[pairs];
  }
  if (!(zero[0] + zero[1] == 0)) throw std::invalid_argument("scores of hypotheses are not finite");
  return most(greatest);
}

void check(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
           std::span<const double> slopes) {
  if (intercepts.size() != slopes.size()) throw std::invalid_argument("one slope per intercept expected");
  if (offsets.empty() || offsets.front() != 0 ||
      static_cast<std::size_t>(offsets.back()) != intercepts.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw std::invalid_argument("offsets: expected to rise from 0 to the number of hypotheses");
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

// The hypotheses of a sentence, one or more.
struct Hypotheses {
  std::span<const double> intercepts;
  std::span<const double> slopes;
  std::int32_t first;  // number of the first one

  std::size_t size() const { return slopes.size(); }
  ScoreLine line(std::size_t i) const {
    return {slopes[i], intercepts[i], first + static_cast<std::int32_t>(i)};
  }
  double height(std::size_t i, double gamma) const { return intercepts[i] + gamma * slopes[i]; }
  Pair heights(std::size_t i, double gamma) const {  // of i and i + 1
    return load(&intercepts[i]) + gamma * load(&slopes[i]);
  }
};

// The lines with the least and the greatest slope, of parallel ones the highest. They name no hypothesis.
struct Outermost {
  ScoreLine first;
  ScoreLine last;
};

Outermost outermost(const Hypotheses& all) {
  const std::size_t pairs = all.size() / 2 * 2;
  Pair low = both(all.slopes[0]);
  Pair high = low;
  for (std::size_t i = 0; i < pairs; i += 2) {
    const Pair slopes = load(&all.slopes[i]);
    low = least(slopes, low);
    high = most(slopes, high);
  }
  if (pairs < all.size()) {
    low[0] = std::min(low[0], all.slopes[pairs]);
    high[0] = std::max(high[0], all.slopes[pairs]);
  }
  const double first = std::min(low[0], low[1]);
  const double last = most(high);
  Pair highest_first = both(-kInfinity);
  Pair highest_last = highest_first;
  for (std::size_t i = 0; i < pairs; i += 2) {
    const Pair slopes = load(&all.slopes[i]);
    const Pair intercepts = load(&all.intercepts[i]);
    highest_first = most(slopes == both(first) ? intercepts : both(-kInfinity), highest_first);
    highest_last = most(slopes == both(last) ? intercepts : both(-kInfinity), highest_last);
  }
  if (pairs < all.size()) {
    const auto [slope, intercept, _] = all.line(pairs);
    if (slope == first) highest_first[0] = std::max(highest_first[0], intercept);
    if (slope == last) highest_last[0] = std::max(highest_last[0], intercept);
  }
  return {{first, most(highest_first), -1}, {last, most(highest_last), -1}};
}

ScoreLine highest(const Hypotheses& all, double gamma) {
  constexpr std::size_t kBlock = 8;
  std::size_t best = 0;
  double height = -kInfinity;
  const auto scan = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (all.height(i, gamma) > height) {
        height = all.height(i, gamma);
        best = i;
      }
    }
  };
  const std::size_t blocks = all.size() / kBlock * kBlock;
  for (std::size_t i = 0; i < blocks; i += kBlock) {
    Pair block = all.heights(i, gamma);
    for (std::size_t k = 2; k < kBlock; k += 2) block = most(all.heights(i + k, gamma), block);
    if (most(block) > height) scan(i, i + kBlock);
  }
  scan(blocks, all.size());
  return all.line(best);
}

// A gamma, and the height below which a line is out there.
struct Bar {
  double gamma;
  double height;
};

// The upper envelope of a sentence's lines. Few of some hundred lines are in it. Before they are sorted, most
// others are left out in two steps, each of which knows some lines of the envelope: a line that is below all
// crossings of neighbours among these never wins, as it is below the crossing of a line of lesser and one of
// greater slope. It is left out if it is lower by more than the rounding error, so that the envelope stays
// the same.
class Envelope {
 public:
  // No sentence may have an intercept of a greater absolute value.
  explicit Envelope(double greatest_intercept) : greatest_intercept_(greatest_intercept) {}

  // Returns the pieces of the envelope from left to right, which are valid until the next call.
  std::span<const Segment> pieces(const Hypotheses& all) {
    pieces_.clear();
    if (all.size() == 0) return pieces_;
    const auto [first, last] = outermost(all);
    if (first.slope == last.slope) {  // as with features that seldom differ
      lines_.assign(1, all.line(std::ranges::find(all.intercepts, first.intercept) - all.intercepts.begin()));
    } else {
      known_ = {first, last};
      add_known([&](double gamma) { return highest(all, gamma); });
      collect(all);
      if (lines_.size() > kFew) {
        add_known([&](double gamma) {
          return *std::ranges::max_element(lines_, {}, [&](const auto& line) { return line.height(gamma); });
        });
        std::erase_if(lines_, [&](const auto& line) { return is_out(line); });
      }
    }
    sort();
    return pieces_;
  }

 private:
  // So few lines are sorted as fast as more of them could be left out.
  static constexpr std::size_t kFew = 8;

  // Adds the lines that are highest(gamma) at the crossings of the known ones, and raises bars at the
  // crossings of all of them.
  template <class Highest>
  void add_known(const Highest& highest_at) {
    const std::vector<ScoreLine> before = known_;
    known_.assign(1, before[0]);
    for (std::size_t k = 1; k < before.size(); ++k) {
      const ScoreLine line = highest_at(crossing(before[k - 1], before[k]));
      if (before[k - 1].slope < line.slope && line.slope < before[k].slope) known_.push_back(line);
      known_.push_back(before[k]);
    }
    const double greatest_slope = std::max(std::abs(known_.front().slope), std::abs(known_.back().slope));
    bars_.clear();
    for (std::size_t k = 1; k < known_.size(); ++k) {
      const double gamma = crossing(known_[k - 1], known_[k]);
      const double height = known_[k].height(gamma);
      const double rounding = std::abs(height) + greatest_intercept_ + std::abs(gamma) * greatest_slope;
      bars_.push_back({gamma, height - 1e-12 * rounding});
    }
  }

  bool is_out(const ScoreLine& line) const {
    return std::ranges::all_of(bars_, [&](const Bar& bar) { return line.height(bar.gamma) < bar.height; });
  }

  // Puts the lines that are not out into lines_, where there are one or two bars.
  void collect(const Hypotheses& all) {
    constexpr std::size_t kBlock = 4;
    const Bar one = bars_.front();
    const Bar other = bars_.back();
    if (reaching_.size() <= all.size()) reaching_.resize(all.size() + 1);
    std::size_t count = 0;
    const auto scan = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        reaching_[count] = i;
        count += !(all.height(i, one.gamma) < one.height && all.height(i, other.gamma) < other.height);
      }
    };
    const auto out = [&](std::size_t i) {
      return (all.heights(i, one.gamma) < one.height) & (all.heights(i, other.gamma) < other.height);
    };
    const std::size_t blocks = all.size() / kBlock * kBlock;
    for (std::size_t i = 0; i < blocks; i += kBlock) {
      const auto all_out = out(i) & out(i + 2);
      if (!(all_out[0] && all_out[1])) scan(i, i + kBlock);
    }
    scan(blocks, all.size());
    lines_.clear();
    for (std::size_t k = 0; k < count; ++k) lines_.push_back(all.line(reaching_[k]));
  }

  // Sorts lines_ and makes pieces of those that win somewhere.
  void sort() {
    std::ranges::sort(lines_, left_of);
    for (const ScoreLine& line : lines_) {
      double begin = -kInfinity;
      while (!pieces_.empty()) {
        const ScoreLine& top = *pieces_.back().line;
        if (line.slope == top.slope) break;
        begin = crossing(top, line);
        if (begin > pieces_.back().begin) break;
        pieces_.pop_back();
        begin = -kInfinity;
      }
      if (pieces_.empty()) {
        pieces_.push_back({begin, &line});
      } else if (line.slope != pieces_.back().line->slope && begin < kInfinity) {
        pieces_.push_back({begin, &line});
      }
    }
  }

  double greatest_intercept_;
  std::vector<ScoreLine> known_;  // lines of the envelope, by rising slope
  std::vector<Bar> bars_;
  std::vector<std::size_t> reaching_;
  std::vector<ScoreLine> lines_;
  std::vector<Segment> pieces_;
};

}  // namespace

WinnerChanges line_search(std::span<const std::int32_t> offsets, std::span<const double> intercepts,
                          std::span<const double> slopes) {
  check(offsets, intercepts, slopes);
  magnitude(slopes);
  Envelope envelope(magnitude(intercepts));
  WinnerChanges out;
  std::vector<Change> changes;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto begin = static_cast<std::size_t>(offsets[s]);
    const std::size_t count = static_cast<std::size_t>(offsets[s + 1]) - begin;
    const auto pieces =
        envelope.pieces({intercepts.subspan(begin, count), slopes.subspan(begin, count), offsets[s]});
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
