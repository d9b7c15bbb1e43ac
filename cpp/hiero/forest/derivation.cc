#include "hiero/forest/derivation.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {
namespace {

constexpr double kNoScore = -std::numeric_limits<double>::infinity();

// Visits the symbols of all target templates of a derivation in target order: visit(at, symbol), where `at`
// is the position of the symbol's edge in the derivation. A nonterminal is visited before its yield.
template <class Visit>
void visit_symbols(const Hypergraph& forest, std::span<const EdgeIndex> derivation, const Visit& visit) {
  if (derivation.empty()) return;
  // size[at]: number of edges in the subtree whose first edge is derivation[at].
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
    std::size_t symbol;  // the next symbol of the edge's template
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

// Returns the position in a sentence of a token of an edge's rule: the widths of the gaps before it count.
std::int64_t source_position(const Hypergraph& forest, NodeIndex head, EdgeIndex e, std::int32_t token) {
  std::int64_t source = std::int64_t{forest.node_spans[2 * head]} + token;
  for (NodeIndex tail : forest.edge_tails(e)) {
    const std::int64_t begin = forest.node_spans[2 * tail];
    if (begin < source) source += forest.node_spans[2 * tail + 1] - begin - 1;
  }
  return source;
}

// Returns the word of a source side at a token's place, or a negative number.
std::int32_t word_in(std::span<const std::int32_t> side, std::int32_t token) {
  return static_cast<std::size_t>(token) < side.size() ? side[static_cast<std::size_t>(token)] : -1;
}

}  // namespace

void extend_derivation(std::vector<EdgeIndex>& derivation, EdgeIndex edge) {
  constexpr std::size_t kMost = std::size_t{1} << 27;
  if (derivation.size() == kMost) throw ForestError("a derivation has over 2^27 edges");
  derivation.push_back(edge);
}

BestEdges best_edges(const Hypergraph& forest, std::span<const double> scores, NodeIndex node) {
  const auto nodes = static_cast<std::size_t>(node + 1);
  BestEdges best{std::vector<double>(nodes, kNoScore), std::vector<EdgeIndex>(nodes, -1)};
  for (NodeIndex v = 0; v <= node; ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double score = scores[e];
      for (NodeIndex tail : forest.edge_tails(e)) score += best.scores[tail];
      if (score > best.scores[v]) {
        best.scores[v] = score;
        best.edges[v] = e;
      }
    }
  }
  return best;
}

std::vector<EdgeIndex> derivation_of(const Hypergraph& forest, std::span<const EdgeIndex> edges,
                                     NodeIndex node) {
  std::vector<EdgeIndex> derivation;
  if (edges[node] < 0) return derivation;
  std::vector<NodeIndex> open{node};
  while (!open.empty()) {
    const EdgeIndex e = edges[open.back()];
    open.pop_back();
    extend_derivation(derivation, e);
    const auto tails = forest.edge_tails(e);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
  }
  return derivation;
}

std::vector<EdgeIndex> viterbi(const Hypergraph& forest, std::span<const double> scores, NodeIndex node) {
  check_edge_values(forest, scores, true, "scores");
  if (node < -1 || node >= forest.node_count()) throw std::out_of_range("no such node");
  if (node < 0) return {};
  return derivation_of(forest, best_edges(forest, scores, node).edges, node);
}

std::optional<Derivation> best_derivation(const std::shared_ptr<const Forest>& forest,
                                          std::span<const double> scores, NodeIndex node) {
  std::vector<EdgeIndex> edges = viterbi(*forest, scores, node);
  if (edges.empty()) return std::nullopt;
  return Derivation{forest, total(scores, edges), std::move(edges)};
}

Derivation checked_derivation(const std::shared_ptr<const Forest>& forest, NodeIndex node,
                              std::vector<EdgeIndex> edges, std::span<const double> scores) {
  check_derivation(*forest, node, edges);
  const double score = scores.empty() ? 0.0 : total(scores, edges);
  return {forest, score, std::move(edges)};
}

std::vector<std::int32_t> yield_words(const Hypergraph& forest, std::span<const EdgeIndex> derivation) {
  std::vector<std::int32_t> words;
  visit_symbols(forest, derivation, [&](std::size_t, std::int32_t symbol) {
    if (symbol >= 0) words.push_back(symbol);
  });
  return words;
}

std::vector<std::string> tokens(const Hypergraph& forest, std::span<const std::int32_t> words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::int32_t word : words) out.push_back(forest.words[static_cast<std::size_t>(word)]);
  return out;
}

std::vector<std::string> yield_tokens(const Hypergraph& forest, std::span<const EdgeIndex> derivation) {
  return tokens(forest, yield_words(forest, derivation));
}

std::vector<std::pair<std::int32_t, std::int32_t>> alignment(const Hypergraph& forest,
                                                             std::span<const EdgeIndex> derivation) {
  // target_position[at][i]: the target position where symbol i of derivation[at] starts.
  std::vector<std::vector<std::int32_t>> target_position(derivation.size());
  std::int32_t position = 0;
  visit_symbols(forest, derivation, [&](std::size_t at, std::int32_t symbol) {
    target_position[at].push_back(position);
    position += symbol >= 0;
  });
  std::vector<std::pair<std::int32_t, std::int32_t>> out;
  for (std::size_t at = 0; at < derivation.size(); ++at) {
    if (target_position[at].empty()) continue;  // below a tail that its parent's target omits
    const EdgeIndex e = derivation[at];
    const std::int32_t t = forest.edge_targets[e];
    const std::int32_t first = forest.targets->link_offsets[t];
    const std::int32_t last = forest.targets->link_offsets[t + 1];
    if (first == last) continue;
    const NodeIndex head = head_of(forest, e);
    std::vector<std::int32_t> side;
    if (forest.is_lattice()) side = source_side(forest, head, e);
    for (std::int32_t l = first; l < last; ++l) {
      const std::int32_t token = forest.targets->links[2 * l];
      const std::int64_t source =
          forest.is_lattice() ? word_in(side, token) : source_position(forest, head, e, token);
      if (source >= 0)
        out.emplace_back(static_cast<std::int32_t>(source),
                         target_position[at][forest.targets->links[2 * l + 1]]);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::int32_t> source_path(const Hypergraph& forest, std::span<const EdgeIndex> derivation) {
  std::vector<std::int32_t> path;
  for (const EdgeIndex e : derivation) {
    for (const std::int32_t symbol : source_side(forest, head_of(forest, e), e))
      if (symbol >= 0) path.push_back(symbol);
  }
  const auto place = [&](std::int32_t word) {
    return forest.is_lattice() ? forest.source_nodes[2 * static_cast<std::size_t>(word)] : word;
  };
  std::ranges::sort(path, {}, place);
  return path;
}

const FeatureSums::Sums& FeatureSums::of(std::span<const EdgeIndex> derivation) {
  sums_.clear();
  for (const EdgeIndex e : derivation) {
    const auto ids = forest_.feature_ids(e);
    const auto values = forest_.feature_values(e);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::int32_t& place = places_[ids[i]];
      if (place < 0) {
        place = static_cast<std::int32_t>(sums_.size());
        sums_.emplace_back(ids[i], 0.0);
      }
      sums_[place].second += values[i];
    }
  }
  for (const auto& [feature, _] : sums_) places_[feature] = -1;
  std::ranges::sort(sums_, {}, &Sums::value_type::first);
  return sums_;
}

std::vector<std::pair<std::int32_t, double>> feature_sums(const Forest& forest,
                                                          std::span<const EdgeIndex> derivation) {
  return FeatureSums(forest).of(derivation);
}

void check_derivation(const Hypergraph& forest, NodeIndex node, std::span<const EdgeIndex> edges) {
  std::vector<NodeIndex> open;
  if (node >= 0) open.push_back(node);
  for (const EdgeIndex e : edges) {
    if (e < 0 || e >= forest.edge_count()) throw ForestError("derivation: no edge " + std::to_string(e));
    if (open.empty() || head_of(forest, e) != open.back())
      throw ForestError("derivation: edge " + std::to_string(e) + " does not belong where it stands");
    open.pop_back();
    const auto tails = forest.edge_tails(e);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
  }
  if (!open.empty()) throw ForestError("derivation: edges are missing");
}

BigUnsigned derivation_count(const Hypergraph& forest) {
  if (forest.root < 0) return {};
  const double log = inside(forest, LogSemiring(), [](EdgeIndex) { return 0.0; })[forest.root];
  if (!(log <= 0x1p20 * 0.6931471805599453)) throw ForestError("there are over 2^(2^20) derivations");
  return inside(forest, CountingSemiring(), [](EdgeIndex) { return BigUnsigned(1); })[forest.root];
}

double total(std::span<const double> values, std::span<const EdgeIndex> derivation) {
  double sum = 0;
  for (const EdgeIndex e : derivation) sum += values[e];
  return sum;
}

}  // namespace hiero
