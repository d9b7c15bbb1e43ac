#include "hiero/metrics/oracle.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/distinct_strings.h"
#include "hiero/metrics/reference_automaton.h"
#include "hiero/metrics/reference_set.h"

namespace hiero {
namespace {

constexpr std::size_t kLeft = kBleuOrder - 1;
constexpr std::int32_t kMostWords = 1 << 30;  // exceeded where edges have the same tail several times

// A derivation of a node with the n-gram matches of its string. Its first words and a state of the automaton
// are what a longer string needs of it.
struct Item {
  double objective = 0;
  double score = 0;
  EdgeIndex edge = -1;
  std::int32_t length = 0;
  std::int32_t matches[kBleuOrder] = {};
  std::int32_t left[kLeft] = {};
  ReferenceAutomaton::State right = ReferenceAutomaton::kStart;
  std::size_t ranks = 0;  // where the ranks of the tails' items begin in a pool
};

class Rescorer {
 public:
  Rescorer(const Hypergraph& forest, std::span<const double> scores,
           std::span<const std::vector<std::string>> references, const RescoreOptions& options)
      : forest_(forest),
        scores_(scores),
        lengths_(reference_lengths(references)),
        options_(options),
        automaton_(forest.words, references),
        first_(forest.node_count() + 1, 0) {
    source_ = forest.root < 0 ? 0 : width(forest.root);
    if (options.reference_length != ReferenceLength::kClosest)
      reference_length_ = effective_length(lengths_, options.reference_length, 0);
  }

  struct Result {
    double objective;
    double score;
    std::vector<EdgeIndex> edges;
  };
  std::vector<Result> run() {
    std::vector<Result> out;
    if (forest_.root < 0) return out;
    for (NodeIndex v = 0; v <= forest_.root; ++v) {
      first_[v] = items_.size();
      fill(v, v == forest_.root ? std::max(options_.k, options_.beam) : options_.beam);
    }
    first_[forest_.root + 1] = items_.size();
    const std::size_t begin = first_[forest_.root];
    for (std::size_t i = begin; i < items_.size() && i - begin < options_.k; ++i)
      out.push_back({items_[i].objective, items_[i].score, derivation(i)});
    return out;
  }

 private:
  double width(NodeIndex v) const { return forest_.node_spans[2 * v + 1] - forest_.node_spans[2 * v]; }
  std::size_t count(NodeIndex v) const { return first_[v + 1] - first_[v]; }

  // Tells whether b goes before a.
  static bool is_worse(const Item& a, const Item& b) {
    if (a.objective != b.objective) return a.objective < b.objective;
    if (a.score != b.score) return a.score < b.score;
    return a.edge > b.edge;
  }

  // Orders candidates for a heap whose top is the best.
  auto order() const {
    return [this](std::uint32_t a, std::uint32_t b) { return is_worse(candidates_[a], candidates_[b]); };
  }

  void fill(NodeIndex v, std::size_t limit) {
    candidates_.clear();
    pool_.clear();
    queue_.clear();
    kept_.clear();
    kept_strings_.clear();
    share_ = source_ > 0 ? width(v) / source_ : 1;
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      const auto tails = forest_.edge_tails(e);
      if (std::ranges::any_of(tails, [this](NodeIndex u) { return count(u) == 0; })) continue;
      const std::size_t ranks = pool_.size();
      pool_.insert(pool_.end(), tails.size(), 0);
      push(e, ranks);
    }
    while (!queue_.empty() && kept_.size() < limit) {
      if (++popped_ % kPollEvery == 0) poll_interrupts();
      std::ranges::pop_heap(queue_, order());
      const std::uint32_t candidate = queue_.back();
      queue_.pop_back();
      push_successors(candidate);
      keep(candidate);
    }
    finish();
    first_[v + 1] = items_.size();
  }

  void keep(std::uint32_t candidate) {
    if (options_.unique) {
      const Item& item = candidates_[candidate];
      const auto tails = forest_.edge_tails(item.edge);
      const StringHash string = string_of(forest_, item.edge, [&](std::size_t i) -> const StringHash& {
        return strings_[place(tails, item.ranks, i)];
      });
      if (const auto [number, is_new] = kept_strings_.add(string); !is_new) {
        std::uint32_t& other = kept_[number];
        if (is_worse(candidates_[other], item)) other = candidate;
        return;
      }
    }
    kept_.push_back(candidate);
  }

  // Turns the kept candidates into items, best first. The objective is not monotone, so that candidates
  // popped later may be better.
  void finish() {
    ranking_.resize(kept_.size());
    std::iota(ranking_.begin(), ranking_.end(), std::uint32_t{0});
    std::ranges::sort(ranking_, [this](std::uint32_t a, std::uint32_t b) {
      const Item &first = candidates_[kept_[a]], &second = candidates_[kept_[b]];
      return is_worse(second, first) || (!is_worse(first, second) && a < b);
    });
    for (const std::uint32_t i : ranking_) {
      Item item = candidates_[kept_[i]];
      const auto ranks = pool_.begin() + static_cast<std::ptrdiff_t>(item.ranks);
      item.ranks = ranks_.size();
      ranks_.insert(ranks_.end(), ranks, ranks + std::ssize(forest_.edge_tails(item.edge)));
      items_.push_back(item);
      if (options_.unique) strings_.push_back(kept_strings_[i]);
    }
  }

  // Pushes candidates with the next item of one tail. Raising only tails from the last raised one on reaches
  // every combination of ranks exactly once.
  void push_successors(std::uint32_t candidate) {
    const EdgeIndex edge = candidates_[candidate].edge;
    const std::size_t old = candidates_[candidate].ranks;
    const auto tails = forest_.edge_tails(edge);
    std::size_t first = tails.size();
    while (first > 0 && pool_[old + first - 1] == 0) --first;
    for (std::size_t i = first == 0 ? 0 : first - 1; i < tails.size(); ++i) {
      if (pool_[old + i] + 1 >= count(tails[i])) continue;
      const std::size_t ranks = pool_.size();
      for (std::size_t j = 0; j < tails.size(); ++j)
        pool_.push_back(pool_[old + j] + static_cast<std::uint32_t>(i == j));
      push(edge, ranks);
    }
  }

  void push(EdgeIndex e, std::size_t ranks) {
    const auto tails = forest_.edge_tails(e);
    Item item;
    item.edge = e;
    item.ranks = ranks;
    item.score = scores_[e];
    for (std::size_t i = 0; i < tails.size(); ++i) item.score += items_[place(tails, ranks, i)].score;
    for (const std::int32_t symbol : forest_.template_of(e)) {
      if (symbol >= 0) {
        add_word(item, symbol, 1);
      } else {
        add_tail(item, items_[place(tails, ranks, static_cast<std::size_t>(-(symbol + 1)))]);
      }
    }
    item.right = automaton_.shorten(item.right);
    item.objective = objective(item);
    queue_.push_back(static_cast<std::uint32_t>(candidates_.size()));
    candidates_.push_back(item);
    std::ranges::push_heap(queue_, order());
  }

  // Returns the index of the i-th tail's item.
  std::size_t place(std::span<const NodeIndex> tails, std::size_t ranks, std::size_t i) const {
    return first_[tails[i]] + pool_[ranks + i];
  }

  // Counts n-grams of `least` words or more that end in this word.
  void add_word(Item& item, std::int32_t word, std::size_t least) {
    if (item.length < static_cast<std::int32_t>(kLeft)) item.left[item.length] = word;
    item.right = automaton_.next(item.right, word);
    const std::size_t depth = automaton_.depth(item.right);
    for (std::size_t n = 0; n < kBleuOrder; ++n) item.matches[n] += n + 1 >= least && n < depth;
    ++item.length;
  }

  void add_tail(Item& item, const Item& tail) {
    if (tail.length > kMostWords - item.length) throw ForestError("a string has over 2^30 words");
    // n-grams that begin before the tail end in its first words at the latest.
    const std::int32_t stored = std::min(tail.length, static_cast<std::int32_t>(kLeft));
    for (std::int32_t i = 0; i < stored; ++i) add_word(item, tail.left[i], static_cast<std::size_t>(i) + 2);
    item.length += tail.length - stored;
    if (tail.length >= static_cast<std::int32_t>(kLeft)) item.right = tail.right;
    for (std::size_t n = 0; n < kBleuOrder; ++n) item.matches[n] += tail.matches[n];
  }

  double objective(const Item& item) const {
    BleuCounts counts = options_.document;
    counts.length += item.length;
    double reference = reference_length_;
    if (options_.reference_length == ReferenceLength::kClosest)
      reference = effective_length(lengths_, ReferenceLength::kClosest, item.length / std::max(share_, 1e-9));
    counts.reference_length += reference * share_;
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      counts.totals[n] += std::max(item.length - static_cast<std::int32_t>(n), 0);
      counts.matches[n] += item.matches[n];
    }
    const double b = (options_.document_source + source_) * bleu(counts);
    return std::isinf(options_.mu) ? item.score - b : (1 - options_.mu) * b + options_.mu * item.score;
  }

  std::vector<EdgeIndex> derivation(std::size_t root) const {
    std::vector<EdgeIndex> edges;
    std::vector<std::size_t> open{root};
    while (!open.empty()) {
      const Item& item = items_[open.back()];
      open.pop_back();
      extend_derivation(edges, item.edge);
      const auto tails = forest_.edge_tails(item.edge);
      for (std::size_t i = tails.size(); i-- > 0;) open.push_back(first_[tails[i]] + ranks_[item.ranks + i]);
    }
    return edges;
  }

  static constexpr std::size_t kPollEvery = 4096;

  const Hypergraph& forest_;
  std::span<const double> scores_;
  std::vector<double> lengths_;  // of the references
  const RescoreOptions& options_;
  ReferenceAutomaton automaton_;
  double source_ = 0;
  double reference_length_ = 0;
  double share_ = 1;  // of the sentence that the current node covers
  std::vector<Item> items_;
  std::vector<std::size_t> first_;    // by node: index of its first item; items are best first
  std::vector<std::uint32_t> ranks_;  // of the tails of items
  std::vector<StringHash> strings_;   // of items, with options_.unique
  // The current node:
  std::vector<Item> candidates_;
  std::vector<std::uint32_t> pool_;       // ranks of the tails of candidates
  std::vector<std::uint32_t> queue_;      // a heap of candidates
  std::vector<std::uint32_t> kept_;       // candidates, in the order popped
  DistinctStrings kept_strings_;          // their strings, with options_.unique
  std::vector<std::uint32_t> ranking_;    // of kept_
  std::size_t popped_ = 0;
};

}  // namespace

std::vector<OracleHypothesis> rescore(const std::shared_ptr<const Forest>& forest,
                                      std::span<const double> scores,
                                      std::span<const std::vector<std::string>> references,
                                      const RescoreOptions& options) {
  const ReferenceSet::References segment(references.begin(), references.end());
  const ReferenceSet set({&segment, 1});
  check_edge_values(*forest, scores, false, "scores");
  const BleuCounts& document = options.document;
  std::vector<double> counts{document.length, document.reference_length, options.document_source};
  counts.insert(counts.end(), document.totals.begin(), document.totals.end());
  counts.insert(counts.end(), document.matches.begin(), document.matches.end());
  if (!std::ranges::all_of(counts, [](double count) { return std::isfinite(count) && count >= 0; }))
    throw std::invalid_argument("document: expected counts that are finite and not negative");
  if (!(options.mu >= 0)) throw std::invalid_argument("mu: expected 0 to infinity");
  if (options.k < 1 || options.beam < 1) throw std::invalid_argument("k and beam: expected 1 or more");
  const std::vector<std::int32_t> numbers = set.words(forest->graph->words);
  std::vector<OracleHypothesis> out;
  for (auto& [objective, score, edges] : Rescorer(*forest, scores, references, options).run()) {
    std::vector<std::int32_t> words = yield_words(*forest, edges);
    for (std::int32_t& word : words) word = numbers[static_cast<std::size_t>(word)];
    out.push_back(
        {{forest, score, std::move(edges)}, objective, set.bleu(0, words, options.reference_length)});
  }
  return out;
}

}  // namespace hiero
