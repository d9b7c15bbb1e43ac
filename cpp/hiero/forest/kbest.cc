#include "hiero/forest/kbest.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hiero {
namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::array<std::uint64_t, 2> kBases{0x12F5D3A96E1B7C85, 0x0A7B19C4D2E6F803};

// a b + c in the field.
std::uint64_t times_plus(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b + c;
  std::uint64_t sum =
      static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
  if (sum >= kPrime) sum -= kPrime;
  return sum;
}

}  // namespace

bool KBest::is_worse(const Choice& a, const Choice& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.edge != b.edge) return a.edge > b.edge;
  return a.ranks > b.ranks;
}

KBest::KBest(const Hypergraph& forest, std::vector<double> scores, bool unique)
    : forest_(forest), scores_(std::move(scores)), nodes_(forest.node_count()), unique_(unique) {
  check_edge_values(forest, scores_, true, "scores");
}

std::optional<ScoredDerivation> KBest::next() {
  if (forest_.root < 0) return std::nullopt;
  if (!started_) {
    for (NodeIndex v = 0; v <= forest_.root; ++v) start(v);
    started_ = true;
  }
  if (!find(forest_.root, rank_)) return std::nullopt;
  return derivation(nodes_[forest_.root].found[rank_++]);
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
    const Yield yield = yield_of(*node.last);
    if (!node.seen.insert(yield.hash).second) return;
    node.yields.push_back(yield);
  }
  node.found.push_back(*node.last);
}

KBest::Yield KBest::yield_of(const Choice& choice) const {
  Yield out;
  const auto tails = forest_.edge_tails(choice.edge);
  for (const std::int32_t symbol : forest_.template_of(choice.edge)) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (symbol >= 0) {
        out.hash[i] = times_plus(out.hash[i], kBases[i], static_cast<std::uint64_t>(symbol) + 1);
        out.power[i] = times_plus(out.power[i], kBases[i], 0);
      } else {
        const std::size_t tail = static_cast<std::size_t>(-1 - symbol);
        const Yield& below = nodes_[tails[tail]].yields[choice.ranks[tail]];
        out.hash[i] = times_plus(out.hash[i], below.power[i], below.hash[i]);
        out.power[i] = times_plus(out.power[i], below.power[i], 0);
      }
    }
  }
  return out;
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

}  // namespace hiero
