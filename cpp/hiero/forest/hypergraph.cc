#include "hiero/forest/hypergraph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

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

std::vector<double> edge_scores(const Hypergraph& forest, std::span<const double> weights) {
  if (weights.size() != forest.feature_names->size()) {
    throw std::invalid_argument("expected " + std::to_string(forest.feature_names->size()) +
                                " weights, got " + std::to_string(weights.size()));
  }
  std::vector<double> scores(forest.edge_count(), 0.0);
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    for (std::int32_t i = forest.feature_offsets[e]; i < forest.feature_offsets[e + 1]; ++i) {
      scores[e] += weights[forest.feature_ids[i]] * forest.feature_values[i];
    }
  }
  return scores;
}

std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node) {
  if (scores.size() != static_cast<std::size_t>(forest.edge_count())) {
    throw std::invalid_argument("expected one score per edge");
  }
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
    derivation.push_back(e);
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
    const EdgeIndex e = derivation[at];
    const std::int32_t t = forest.edge_targets[e];
    for (std::int32_t l = forest.link_offsets[t]; l < forest.link_offsets[t + 1]; ++l) {
      // A source token position becomes a sentence position by the widths of the gaps before it.
      std::int32_t source = forest.node_spans[2 * head_of(forest, e)] + forest.links[2 * l];
      for (NodeIndex tail : forest.edge_tails(e)) {
        const std::int32_t begin = forest.node_spans[2 * tail];
        if (begin < source) source += forest.node_spans[2 * tail + 1] - begin - 1;
      }
      out.emplace_back(source, target_position[at][forest.links[2 * l + 1]]);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<std::int32_t, double>> feature_sums(const Hypergraph& forest,
                                                          std::span<const EdgeIndex> derivation) {
  std::map<std::int32_t, double> sums;
  for (EdgeIndex e : derivation) {
    for (std::int32_t i = forest.feature_offsets[e]; i < forest.feature_offsets[e + 1]; ++i) {
      sums[forest.feature_ids[i]] += forest.feature_values[i];
    }
  }
  return {sums.begin(), sums.end()};
}

NodeIndex head_of(const Hypergraph& forest, EdgeIndex edge) {
  const auto after = std::upper_bound(forest.edge_offsets.begin(), forest.edge_offsets.end(), edge);
  return static_cast<NodeIndex>(after - forest.edge_offsets.begin()) - 1;
}

double derivation_count(const Hypergraph& forest) {
  if (forest.root < 0) return 0;
  std::vector<double> count(forest.root + 1, 0.0);
  for (NodeIndex v = 0; v <= forest.root; ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double product = 1;
      for (NodeIndex tail : forest.edge_tails(e)) product *= count[tail];
      count[v] += product;
    }
  }
  return count[forest.root];
}

}  // namespace hiero
