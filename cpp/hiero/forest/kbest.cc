#include "hiero/forest/kbest.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hiero/forest/edge_values.h"

namespace hiero {

bool KBest::is_worse(const Choice& a, const Choice& b) {
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
  if (!find(top_, rank_)) return std::nullopt;
  return derivation(nodes_[top_].found[rank_++]);
}

// Queues the best derivation of every edge into v and takes the best of them; wants all nodes before it
// started.
void KBest::start(NodeIndex v) {
  Node& node = nodes_[v];
  for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
    Choice choice{0, e, std::vector<std::uint32_t>(forest_.edge_tails(e).size(), 0)};
    if (rescore(choice)) node.queue.push_back(std::move(choice));
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
  node.found.push_back(*node.last);
}

StringHash KBest::yield_of(const Choice& choice) const {
  const auto tails = forest_.edge_tails(choice.edge);
  return string_of(forest_, choice.edge, [&](std::size_t i) -> const StringHash& {
    return nodes_[tails[i]].yields[choice.ranks[i]];
  });
}

// Makes the derivation of this rank known at node v; false if there are fewer. What has to be known of nodes
// below goes on a stack of our own, as forests may be as deep as they have nodes.
bool KBest::find(NodeIndex v, std::uint32_t rank) {
  wanted_.assign(1, {v, rank});
  while (!wanted_.empty()) {
    const Wanted top = wanted_.back();
    Node& node = nodes_[top.node];
    if (node.is_settled(top.rank)) {
      wanted_.pop_back();
    } else if (!node.last) {
      take_best(node);
    } else if (!want_tails(*node.last)) {
      push_successors(node);
    }
  }
  return nodes_[v].found.size() > rank;
}

// Raising only tails from the last raised one on reaches every combination of ranks exactly once.
std::size_t KBest::first_to_raise(const Choice& choice) {
  std::size_t first = choice.ranks.size();
  while (first > 0 && choice.ranks[first - 1] == 0) --first;
  return first == 0 ? 0 : first - 1;
}

// Puts on the stack what the successors of a derivation need that is not known yet; false if nothing.
bool KBest::want_tails(const Choice& choice) {
  const std::size_t before = wanted_.size();
  const auto tails = forest_.edge_tails(choice.edge);
  for (std::size_t i = first_to_raise(choice); i < tails.size(); ++i) {
    const std::uint32_t rank = choice.ranks[i] + 1;
    if (!nodes_[tails[i]].is_settled(rank)) wanted_.push_back({tails[i], rank});
  }
  return wanted_.size() > before;
}

// Queues the successors of the derivation last taken from a node's queue.
void KBest::push_successors(Node& node) {
  const Choice choice = *std::exchange(node.last, std::nullopt);
  for (std::size_t i = first_to_raise(choice); i < choice.ranks.size(); ++i) {
    Choice successor = choice;
    ++successor.ranks[i];
    if (!rescore(successor)) continue;
    node.queue.push_back(std::move(successor));
    std::push_heap(node.queue.begin(), node.queue.end(), is_worse);
  }
}

// Sums the choice's score; false if that is -infinity or a tail has no derivation of the wanted rank.
bool KBest::rescore(Choice& choice) const {
  choice.score = scores_[choice.edge];
  const auto tails = forest_.edge_tails(choice.edge);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const std::vector<Choice>& found = nodes_[tails[i]].found;
    if (choice.ranks[i] >= found.size()) return false;
    choice.score += found[choice.ranks[i]].score;
  }
  return choice.score > -std::numeric_limits<double>::infinity();
}

ScoredDerivation KBest::derivation(const Choice& choice) const {
  ScoredDerivation out{choice.score, {}};
  std::vector<const Choice*> open{&choice};
  while (!open.empty()) {
    const Choice& top = *open.back();
    open.pop_back();
    extend_derivation(out.edges, top.edge);
    const auto tails = forest_.edge_tails(top.edge);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(&nodes_[tails[i]].found[top.ranks[i]]);
  }
  return out;
}

namespace {

// Those of rank 0 .. k - 1, as far as there are so many.
template <class Take>
void each_of(KBest lazy, std::size_t k, const KBestProgress& progress, const Take& take) {
  for (std::size_t found = 0; found < k; ++found) {
    progress(found);
    std::optional<ScoredDerivation> next = lazy.next();
    if (!next) return;
    take(std::move(*next));
  }
}

}  // namespace

std::vector<Derivation> kbest(const std::shared_ptr<const Forest>& forest, NodeIndex top,
                              std::vector<double> scores, std::size_t k, bool unique,
                              const KBestProgress& progress) {
  std::vector<Derivation> out;
  each_of(KBest(*forest, top, std::move(scores), unique), k, progress,
          [&](ScoredDerivation next) { out.push_back({forest, next.score, std::move(next.edges)}); });
  return out;
}

KBestArrays kbest_arrays(const Forest& forest, NodeIndex top, std::vector<double> scores, std::size_t k,
                         bool unique, const KBestProgress& progress) {
  KBestArrays out;
  out.feature_count = forest.feature_names->size();
  each_of(KBest(forest, top, std::move(scores), unique), k, progress, [&](const ScoredDerivation& next) {
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
