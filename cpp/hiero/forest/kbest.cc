#include "hiero/forest/kbest.h"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "hiero/base/interrupt.h"
#include "hiero/forest/edge_values.h"

namespace hiero {

KBest::KBest(const Hypergraph& forest, NodeIndex top, std::vector<double> scores, bool unique)
    : forest_(forest), top_(top), scores_(std::move(scores)), unique_(unique) {
  check_edge_values(forest, scores_, true, "scores");
  if (top < -1 || top >= forest.node_count()) throw std::out_of_range("no such node");
  best_ = best_edges(forest, scores_, top);
  nodes_.resize(static_cast<std::size_t>(top + 1));
}

std::optional<ScoredDerivation> KBest::next() {
  if (top_ < 0 || best_.edges[top_] < 0) return std::nullopt;
  if (rank_ > 0 && !rank_up_to(top_, rank_)) return std::nullopt;
  return derivation(top_, rank_++);
}

void KBest::find_best_yields() {
  best_yields_.resize(nodes_.size());
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    const EdgeIndex e = best_.edges[v];
    if (e < 0) continue;
    const auto tails = forest_.edge_tails(e);
    best_yields_[v] =
        string_of(forest_, e, [&](std::size_t i) -> const StringHash& { return best_yields_[tails[i]]; });
  }
}

// Queues the best derivation of every edge into v and takes the best of them.
void KBest::open(NodeIndex v) {
  if (unique_ && best_yields_.empty()) find_best_yields();
  Node& node = nodes_[v];
  node.is_open = true;
  node.queue.reserve(static_cast<std::size_t>(forest_.edge_offsets[v + 1] - forest_.edge_offsets[v]));
  for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
    Candidate candidate{0, e, ranks_.size()};
    ranks_.resize(ranks_.size() + forest_.edge_tails(e).size(), 0);
    if (rescore(candidate)) node.queue.push_back(candidate);
  }
  std::ranges::make_heap(node.queue, [this](const auto& a, const auto& b) { return is_worse(a, b); });
  if (!node.queue.empty()) take_best(node);
}

// Ranks derivations of node v up to this rank; false if there are fewer. Requests to nodes below go on an
// explicit stack, as a forest may be as deep as it has nodes.
bool KBest::rank_up_to(NodeIndex v, std::uint32_t rank) {
  requests_.assign(1, {v, rank});
  while (!requests_.empty()) {
    const Request top = requests_.back();
    Node& node = nodes_[top.node];
    if (node.is_settled(top.rank)) {
      requests_.pop_back();
    } else if (!node.is_open) {
      open(top.node);
    } else if (!node.last) {
      take_best(node);
    } else if (!request_tails(*node.last)) {
      push_successors(node);
    }
  }
  return nodes_[v].ranked.size() > rank;
}

bool KBest::is_worse(const Candidate& a, const Candidate& b) const {
  if (a.score != b.score) return a.score < b.score;
  if (a.edge != b.edge) return a.edge > b.edge;
  return std::ranges::lexicographical_compare(ranks_of(b), ranks_of(a));
}

std::span<const std::uint32_t> KBest::ranks_of(const Candidate& candidate) const {
  return {ranks_.data() + candidate.ranks, forest_.edge_tails(candidate.edge).size()};
}

// Raising only tails from the last raised one on reaches every combination of ranks exactly once.
std::size_t KBest::first_to_raise(const Candidate& candidate) const {
  const auto ranks = ranks_of(candidate);
  std::size_t first = ranks.size();
  while (first > 0 && ranks[first - 1] == 0) --first;
  return first == 0 ? 0 : first - 1;
}

void KBest::take_best(Node& node) {
  std::ranges::pop_heap(node.queue, [this](const auto& a, const auto& b) { return is_worse(a, b); });
  node.last = node.queue.back();
  node.queue.pop_back();
  if (unique_ && !node.yields.add(yield_of(*node.last)).second) return;
  node.ranked.push_back(*node.last);
}

StringHash KBest::yield_of(const Candidate& candidate) const {
  const auto tails = forest_.edge_tails(candidate.edge);
  const auto ranks = ranks_of(candidate);
  return string_of(forest_, candidate.edge, [&](std::size_t i) -> const StringHash& {
    return ranks[i] == 0 ? best_yields_[tails[i]] : nodes_[tails[i]].yields[ranks[i]];
  });
}

// Requests the derivations of tails that the successors of a candidate need; false if all are ranked.
bool KBest::request_tails(const Candidate& candidate) {
  const std::size_t before = requests_.size();
  const auto tails = forest_.edge_tails(candidate.edge);
  const auto ranks = ranks_of(candidate);
  for (std::size_t i = first_to_raise(candidate); i < tails.size(); ++i) {
    if (!nodes_[tails[i]].is_settled(ranks[i] + 1)) requests_.push_back({tails[i], ranks[i] + 1});
  }
  return requests_.size() > before;
}

// Queues the successors of the derivation last taken from a node's queue.
void KBest::push_successors(Node& node) {
  const Candidate candidate = *std::exchange(node.last, std::nullopt);
  const std::size_t tails = forest_.edge_tails(candidate.edge).size();
  for (std::size_t i = first_to_raise(candidate); i < tails; ++i) {
    Candidate successor{0, candidate.edge, ranks_.size()};
    for (std::size_t j = 0; j < tails; ++j)
      ranks_.push_back(ranks_[candidate.ranks + j] + static_cast<std::uint32_t>(i == j));
    if (!rescore(successor)) continue;
    node.queue.push_back(successor);
    std::ranges::push_heap(node.queue, [this](const auto& a, const auto& b) { return is_worse(a, b); });
  }
}

// Sums the candidate's score; false if that is -infinity or a tail has no derivation of its rank.
bool KBest::rescore(Candidate& candidate) const {
  candidate.score = scores_[candidate.edge];
  const auto tails = forest_.edge_tails(candidate.edge);
  const auto ranks = ranks_of(candidate);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    if (ranks[i] == 0) {
      candidate.score += best_.scores[tails[i]];
    } else if (ranks[i] < nodes_[tails[i]].ranked.size()) {
      candidate.score += nodes_[tails[i]].ranked[ranks[i]].score;
    } else {
      return false;
    }
  }
  return candidate.score > -std::numeric_limits<double>::infinity();
}

ScoredDerivation KBest::derivation(NodeIndex v, std::uint32_t rank) const {
  ScoredDerivation out{rank == 0 ? best_.scores[v] : nodes_[v].ranked[rank].score, {}};
  std::vector<Request> open{{v, rank}};
  while (!open.empty()) {
    const Request top = open.back();
    open.pop_back();
    const Candidate* const candidate = top.rank == 0 ? nullptr : &nodes_[top.node].ranked[top.rank];
    const EdgeIndex e = candidate ? candidate->edge : best_.edges[top.node];
    extend_derivation(out.edges, e);
    const auto tails = forest_.edge_tails(e);
    for (std::size_t i = tails.size(); i-- > 0;)
      open.push_back({tails[i], candidate ? ranks_[candidate->ranks + i] : 0});
  }
  return out;
}

namespace {

constexpr std::size_t kDerivationsPerPoll = 1024;

// Calls take(derivation) for the k best derivations, or fewer where there are no more.
template <class Take>
void take_best(KBest lazy, std::size_t k, const Take& take) {
  for (std::size_t rank = 0; rank < k; ++rank) {
    if (rank % kDerivationsPerPoll == 0) poll_interrupts();
    std::optional<ScoredDerivation> next = lazy.next();
    if (!next) return;
    take(std::move(*next));
  }
}

}  // namespace

std::vector<Derivation> kbest(const std::shared_ptr<const Forest>& forest, NodeIndex top,
                              std::vector<double> scores, std::size_t k, bool unique) {
  std::vector<Derivation> out;
  take_best(KBest(*forest, top, std::move(scores), unique), k,
            [&](ScoredDerivation next) { out.push_back({forest, next.score, std::move(next.edges)}); });
  return out;
}

Derivation only_derivation(const std::shared_ptr<const Forest>& forest, std::span<const double> weights) {
  const Hypergraph& graph = *forest->graph;
  if (graph.root < 0) return {forest, 0.0, {}};
  if (auto best = KBest(graph, graph.root, edge_scores(*forest, weights), false).next())
    return {forest, best->score, std::move(best->edges)};
  return {forest, -std::numeric_limits<double>::infinity(),
          viterbi(graph, std::vector<double>(graph.edge_count(), 0.0), graph.root)};
}

KBestArrays kbest_arrays(const Forest& forest, NodeIndex top, std::vector<double> scores, std::size_t k,
                         bool unique) {
  KBestArrays out;
  out.feature_count = forest.feature_names->size();
  FeatureSums sums(forest);
  take_best(KBest(forest, top, std::move(scores), unique), k, [&](const ScoredDerivation& next) {
    out.scores.push_back(next.score);
    out.edges.insert(out.edges.end(), next.edges.begin(), next.edges.end());
    out.edge_offsets.push_back(array_offset(out.edges.size()));
    const std::vector<std::int32_t> words = yield_words(forest, next.edges);
    out.words.insert(out.words.end(), words.begin(), words.end());
    out.word_offsets.push_back(array_offset(out.words.size()));
    for (const auto& [feature, value] : sums.of(next.edges)) {
      out.features.ids.push_back(feature);
      out.features.values.push_back(value);
    }
    out.features.offsets.push_back(array_offset(out.features.ids.size()));
  });
  return out;
}

}  // namespace hiero
