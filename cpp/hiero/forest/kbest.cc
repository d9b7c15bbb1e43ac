#include "hiero/forest/kbest.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hiero/base/interrupt.h"
#include "hiero/forest/edge_values.h"

namespace hiero {

bool KBest::is_worse(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.edge != b.edge) return a.edge > b.edge;
  return a.ranks > b.ranks;
}

KBest::KBest(const Hypergraph& forest, NodeIndex top, std::vector<double> scores, bool unique)
    : forest_(forest), top_(top), scores_(std::move(scores)), unique_(unique) {
  check_edge_values(forest, scores_, true, "scores");
  if (top < -1 || top >= forest.node_count()) throw std::out_of_range("no such node");
  nodes_.resize(static_cast<std::size_t>(top + 1));
}

std::optional<ScoredDerivation> KBest::next() {
  if (top_ < 0) return std::nullopt;
  if (!started_) {
    for (NodeIndex v = 0; v <= top_; ++v) start(v);
    started_ = true;
  }
  if (!rank_up_to(top_, rank_)) return std::nullopt;
  return derivation(nodes_[top_].ranked[rank_++]);
}

// Queues the best derivation of every edge into v and takes the best of them. Call it for the nodes in
// order.
void KBest::start(NodeIndex v) {
  Node& node = nodes_[v];
  for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
    Candidate candidate{0, e, std::vector<std::uint32_t>(forest_.edge_tails(e).size(), 0)};
    if (rescore(candidate)) node.queue.push_back(std::move(candidate));
  }
  std::make_heap(node.queue.begin(), node.queue.end(), is_worse);
  if (!node.queue.empty()) take_best(node);
}

void KBest::take_best(Node& node) {
  std::pop_heap(node.queue.begin(), node.queue.end(), is_worse);
  node.last = std::move(node.queue.back());
  node.queue.pop_back();
  if (unique_) {
    const StringHash yield = yield_of(*node.last);
    if (!node.seen.insert(yield.value()).second) return;
    node.yields.push_back(yield);
  }
  node.ranked.push_back(*node.last);
}

StringHash KBest::yield_of(const Candidate& candidate) const {
  const auto tails = forest_.edge_tails(candidate.edge);
  return string_of(forest_, candidate.edge, [&](std::size_t i) -> const StringHash& {
    return nodes_[tails[i]].yields[candidate.ranks[i]];
  });
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
    } else if (!node.last) {
      take_best(node);
    } else if (!request_tails(*node.last)) {
      push_successors(node);
    }
  }
  return nodes_[v].ranked.size() > rank;
}

// Raising only tails from the last raised one on reaches every combination of ranks exactly once.
std::size_t KBest::first_to_raise(const Candidate& candidate) {
  std::size_t first = candidate.ranks.size();
  while (first > 0 && candidate.ranks[first - 1] == 0) --first;
  return first == 0 ? 0 : first - 1;
}

// Requests the derivations of tails that the successors of a candidate need; false if all are ranked.
bool KBest::request_tails(const Candidate& candidate) {
  const std::size_t before = requests_.size();
  const auto tails = forest_.edge_tails(candidate.edge);
  for (std::size_t i = first_to_raise(candidate); i < tails.size(); ++i) {
    const std::uint32_t rank = candidate.ranks[i] + 1;
    if (!nodes_[tails[i]].is_settled(rank)) requests_.push_back({tails[i], rank});
  }
  return requests_.size() > before;
}

// Queues the successors of the derivation last taken from a node's queue.
void KBest::push_successors(Node& node) {
  const Candidate candidate = *std::exchange(node.last, std::nullopt);
  for (std::size_t i = first_to_raise(candidate); i < candidate.ranks.size(); ++i) {
    Candidate successor = candidate;
    ++successor.ranks[i];
    if (!rescore(successor)) continue;
    node.queue.push_back(std::move(successor));
    std::push_heap(node.queue.begin(), node.queue.end(), is_worse);
  }
}

// Sums the candidate's score; false if that is -infinity or a tail has no derivation of its rank.
bool KBest::rescore(Candidate& candidate) const {
  candidate.score = scores_[candidate.edge];
  const auto tails = forest_.edge_tails(candidate.edge);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const std::vector<Candidate>& ranked = nodes_[tails[i]].ranked;
    if (candidate.ranks[i] >= ranked.size()) return false;
    candidate.score += ranked[candidate.ranks[i]].score;
  }
  return candidate.score > -std::numeric_limits<double>::infinity();
}

ScoredDerivation KBest::derivation(const Candidate& candidate) const {
  ScoredDerivation out{candidate.score, {}};
  std::vector<const Candidate*> open{&candidate};
  while (!open.empty()) {
    const Candidate& top = *open.back();
    open.pop_back();
    extend_derivation(out.edges, top.edge);
    const auto tails = forest_.edge_tails(top.edge);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(&nodes_[tails[i]].ranked[top.ranks[i]]);
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
  take_best(KBest(forest, top, std::move(scores), unique), k, [&](const ScoredDerivation& next) {
    out.scores.push_back(next.score);
    out.edges.insert(out.edges.end(), next.edges.begin(), next.edges.end());
    out.edge_offsets.push_back(array_offset(out.edges.size()));
    const std::vector<std::int32_t> words = yield_words(forest, next.edges);
    out.words.insert(out.words.end(), words.begin(), words.end());
    out.word_offsets.push_back(array_offset(out.words.size()));
    for (const auto& [feature, value] : feature_sums(forest, next.edges)) {
      out.features.ids.push_back(feature);
      out.features.values.push_back(value);
    }
    out.features.offsets.push_back(array_offset(out.features.ids.size()));
  });
  return out;
}

}  // namespace hiero
