#include "hiero/forest/hypergraph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "hiero/base/error.h"

namespace hiero {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Visits the symbols of all templates of a preorder derivation in target order: visit(at, symbol), where
// `at` is the position of the symbol's edge in the derivation; a nonterminal comes before its yield.
template <class Visit>
void visit_symbols(const Hypergraph& forest, std::span<const EdgeIndex> derivation, const Visit& visit) {
  if (derivation.empty()) return;
  // size[at]: edges in the subtree that starts there.
  std::vector<std::size_t> size(derivation.size(), 1);
  for (std::size_t at = derivation.size(); at-- > 0;) {
    for (std::size_t i = 0; i < forest.edge_tails(derivation[at]).size(); ++i) {
      const std::size_t child = at + size[at];
      if (child >= derivation.size()) throw std::invalid_argument("derivation ends before its last child");
      size[at] += size[child];
    }
  }
  struct Frame {
    std::size_t at;
    std::size_t symbol;  // next symbol of its template
  };
  std::vector<Frame> stack{{0, 0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const auto symbols = forest.template_of(derivation[frame.at]);
    if (frame.symbol == symbols.size()) {
      stack.pop_back();
      continue;
    }
    const std::int32_t symbol = symbols[frame.symbol++];
    visit(frame.at, symbol);
    if (symbol >= 0) continue;
    std::size_t child = frame.at + 1;
    for (std::int32_t earlier = -1; earlier > symbol; --earlier) child += size[child];
    stack.push_back({child, 0});
  }
}

}  // namespace

std::int32_t array_offset(std::size_t size) {
  if (size > 0x7FFFFFFF) throw ForestError("forest or list too large: over 2^31 - 1 array entries");
  return static_cast<std::int32_t>(size);
}

void check_edge_values(const Hypergraph& forest, std::span<const double> values, bool minus_infinity,
                       const char* name) {
  if (values.size() != static_cast<std::size_t>(forest.edge_count())) {
    throw std::invalid_argument(std::string(name) + ": expected one per edge, " +
                                std::to_string(forest.edge_count()) + ", got " +
                                std::to_string(values.size()));
  }
  for (std::size_t e = 0; e < values.size(); ++e) {
    if (std::isfinite(values[e])) continue;
    if (minus_infinity && values[e] == -std::numeric_limits<double>::infinity()) continue;
    throw std::invalid_argument(std::string(name) + ": edge " + std::to_string(e) + " has " +
                                std::to_string(values[e]));
  }
}

std::vector<double> edge_scores(const Hypergraph& forest, std::span<const double> weights) {
  if (weights.size() != forest.feature_names->size()) {
    throw std::invalid_argument("expected " + std::to_string(forest.feature_names->size()) +
                                " weights, got " + std::to_string(weights.size()));
  }
  const FeatureRows& rows = *forest.features;
  const auto row_score = [&](std::size_t row) {
    double sum = 0.0;
    for (std::int32_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      sum += weights[rows.ids[i]] * rows.values[i];
    return sum;
  };
  std::vector<double> scores;
  scores.reserve(forest.edge_count());
  const std::size_t row_count = rows.offsets.size() - 1;
  if (forest.edge_rows.size() <= row_count) {
    // A pruned forest uses few of the rows that it shares.
    for (EdgeIndex e = 0; e < forest.edge_count(); ++e) scores.push_back(row_score(forest.row_of(e)));
    return scores;
  }
  std::vector<double> by_row;
  for (std::size_t row = 0; row < row_count; ++row) by_row.push_back(row_score(row));
  for (const std::int32_t row : forest.edge_rows) scores.push_back(by_row[row]);
  return scores;
}

void add_weighted_features(const Hypergraph& forest, std::span<const double> factors,
                           std::span<double> sums) {
  if (factors.size() != static_cast<std::size_t>(forest.edge_count())) {
    throw std::invalid_argument("expected one factor per edge");
  }
  if (sums.size() != forest.feature_names->size())
    throw std::invalid_argument("expected one sum per feature");
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    const auto ids = forest.feature_ids(e);
    const auto values = forest.feature_values(e);
    for (std::size_t i = 0; i < ids.size(); ++i) sums[ids[i]] += factors[e] * values[i];
  }
}

void extend_derivation(std::vector<EdgeIndex>& derivation, EdgeIndex edge) {
  constexpr std::size_t kMost = std::size_t{1} << 27;
  if (derivation.size() == kMost) throw ForestError("a derivation has over 2^27 edges");
  derivation.push_back(edge);
}

std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node) {
  check_edge_values(forest, scores, true, "scores");
  if (node < -1 || node >= forest.node_count()) throw std::out_of_range("no such node");
  if (node < 0) return {};
  std::vector<double> best(node + 1, kNever);
  std::vector<EdgeIndex> choice(node + 1, -1);
  for (NodeIndex v = 0; v <= node; ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double score = scores[e];
      for (NodeIndex tail : forest.edge_tails(e)) score += best[tail];
      if (score > best[v]) {
        best[v] = score;
        choice[v] = e;
      }
    }
  }
  std::vector<EdgeIndex> derivation;
  if (choice[node] < 0) return derivation;
  std::vector<NodeIndex> open{node};
  while (!open.empty()) {
    const EdgeIndex e = choice[open.back()];
    open.pop_back();
    extend_derivation(derivation, e);
    const auto tails = forest.edge_tails(e);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
  }
  return derivation;
}

std::vector<std::int32_t> yield_words(const Hypergraph& forest, std::span<const EdgeIndex> derivation) {
  std::vector<std::int32_t> words;
  visit_symbols(forest, derivation, [&](std::size_t, std::int32_t symbol) {
    if (symbol >= 0) words.push_back(symbol);
  });
  return words;
}

std::vector<std::pair<std::int32_t, std::int32_t>> alignment(const Hypergraph& forest,
                                                             std::span<const EdgeIndex> derivation) {
  // target_position[at][i]: where symbol i of the edge at that position of the derivation starts.
  std::vector<std::vector<std::int32_t>> target_position(derivation.size());
  std::int32_t made = 0;
  visit_symbols(forest, derivation, [&](std::size_t at, std::int32_t symbol) {
    target_position[at].push_back(made);
    made += symbol >= 0;
  });
  std::vector<std::pair<std::int32_t, std::int32_t>> out;
  for (std::size_t at = 0; at < derivation.size(); ++at) {
    if (target_position[at].empty()) continue;  // below a tail that a target leaves out
    const EdgeIndex e = derivation[at];
    const std::int32_t t = forest.edge_targets[e];
    for (std::int32_t l = forest.targets->link_offsets[t]; l < forest.targets->link_offsets[t + 1]; ++l) {
      // A source token position becomes a sentence position by the widths of the gaps before it.
      std::int64_t source =
          std::int64_t{forest.node_spans[2 * head_of(forest, e)]} + forest.targets->links[2 * l];
      for (NodeIndex tail : forest.edge_tails(e)) {
        const std::int64_t begin = forest.node_spans[2 * tail];
        if (begin < source) source += forest.node_spans[2 * tail + 1] - begin - 1;
      }
      out.emplace_back(static_cast<std::int32_t>(source),
                       target_position[at][forest.targets->links[2 * l + 1]]);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<std::int32_t, double>> feature_sums(const Hypergraph& forest,
                                                          std::span<const EdgeIndex> derivation) {
  std::map<std::int32_t, double> sums;
  for (EdgeIndex e : derivation) {
    const auto ids = forest.feature_ids(e);
    const auto values = forest.feature_values(e);
    for (std::size_t i = 0; i < ids.size(); ++i) sums[ids[i]] += values[i];
  }
  return {sums.begin(), sums.end()};
}

bool leaves_out(const Hypergraph& forest, EdgeIndex edge, std::size_t place) {
  const auto symbols = forest.template_of(edge);
  return std::ranges::find(symbols, -1 - static_cast<std::int32_t>(place)) == symbols.end();
}

std::vector<std::uint8_t> silent_nodes(const Hypergraph& forest) {
  std::vector<std::uint8_t> silent(forest.node_count(), 0);
  for (NodeIndex v = forest.node_count() - 1; v >= 0; --v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      const auto tails = forest.edge_tails(e);
      for (std::size_t i = 0; i < tails.size(); ++i) {
        if (silent[v] || leaves_out(forest, e, i)) silent[tails[i]] = 1;
      }
    }
  }
  return silent;
}

NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge) {
  const auto after = std::upper_bound(forest.edge_offsets.begin(), forest.edge_offsets.end(), edge);
  return static_cast<NodeIndex>(after - forest.edge_offsets.begin()) - 1;
}

}  // namespace hiero
