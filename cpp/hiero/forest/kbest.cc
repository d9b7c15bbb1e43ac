#include "hiero/forest/kbest.h"

#include <algorithm>
#include <stdexcept>

namespace hiero {

bool KBest::Choice::worse_than(const Choice& other) const {
  if (score != other.score) return score < other.score;
  if (edge != other.edge) return edge > other.edge;
  return ranks > other.ranks;
}

std::size_t KBest::WordsHash::operator()(const std::vector<std::int32_t>& words) const {
  std::uint64_t hash = words.size();
  for (std::int32_t word : words) hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 31);
}

KBest::KBest(const Hypergraph& forest, std::vector<double> scores, bool unique)
    : forest_(forest), scores_(std::move(scores)), nodes_(forest.node_count()), unique_(unique) {
  if (scores_.size() != static_cast<std::size_t>(forest.edge_count())) {
    throw std::invalid_argument("expected one score per edge");
  }
}

std::optional<ScoredDerivation> KBest::next() {
  if (forest_.root < 0) return std::nullopt;
  while (find(forest_.root, rank_)) {
    ScoredDerivation out = derivation(nodes_[forest_.root].found[rank_++]);
    if (!unique_ || seen_.insert(yield_words(forest_, out.edges)).second) return out;
  }
  return std::nullopt;
}

// Makes the derivation of this rank known at node v; false if there are fewer. Recursion goes down the
// forest, so its depth is at most the height of a derivation.
bool KBest::find(NodeIndex v, std::uint32_t rank) {
  if (!nodes_[v].started) start(v);
  Node& node = nodes_[v];
  const auto worse = [](const Choice& a, const Choice& b) { return a.worse_than(b); };
  while (node.found.size() <= rank) {
    if (!node.found.empty()) push_next(v, Choice(node.found.back()));
    if (node.queue.empty()) return false;
    std::pop_heap(node.queue.begin(), node.queue.end(), worse);
    node.found.push_back(std::move(node.queue.back()));
    node.queue.pop_back();
  }
  return true;
}

void KBest::start(NodeIndex v) {
  nodes_[v].started = true;
  const auto worse = [](const Choice& a, const Choice& b) { return a.worse_than(b); };
  for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
    Choice choice{0, e, std::vector<std::uint32_t>(forest_.edge_tails(e).size(), 0)};
    if (rescore(choice)) nodes_[v].queue.push_back(std::move(choice));
  }
  std::make_heap(nodes_[v].queue.begin(), nodes_[v].queue.end(), worse);
}

// Queues the successors of a derivation. Raising only tails from the last raised one on reaches every
// combination of ranks exactly once.
void KBest::push_next(NodeIndex v, const Choice& choice) {
  const auto worse = [](const Choice& a, const Choice& b) { return a.worse_than(b); };
  std::size_t first = choice.ranks.size();
  while (first > 0 && choice.ranks[first - 1] == 0) --first;
  for (std::size_t i = first == 0 ? 0 : first - 1; i < choice.ranks.size(); ++i) {
    Choice successor = choice;
    ++successor.ranks[i];
    if (!rescore(successor)) continue;
    nodes_[v].queue.push_back(std::move(successor));
    std::push_heap(nodes_[v].queue.begin(), nodes_[v].queue.end(), worse);
  }
}

// Sums the choice's score; false if a tail has no derivation of the wanted rank.
bool KBest::rescore(Choice& choice) {
  choice.score = scores_[choice.edge];
  const auto tails = forest_.edge_tails(choice.edge);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    if (!find(tails[i], choice.ranks[i])) return false;
    choice.score += nodes_[tails[i]].found[choice.ranks[i]].score;
  }
  return true;
}

ScoredDerivation KBest::derivation(const Choice& choice) const {
  ScoredDerivation out{choice.score, {}};
  std::vector<const Choice*> open{&choice};
  while (!open.empty()) {
    const Choice& top = *open.back();
    open.pop_back();
    out.edges.push_back(top.edge);
    const auto tails = forest_.edge_tails(top.edge);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(&nodes_[tails[i]].found[top.ranks[i]]);
  }
  return out;
}

}  // namespace hiero
