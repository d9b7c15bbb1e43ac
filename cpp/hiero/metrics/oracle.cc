#include "hiero/metrics/oracle.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hiero/forest/edge_values.h"
#include "hiero/forest/string_hash.h"
#include "hiero/metrics/reference_automaton.h"

namespace hiero {
namespace {

constexpr std::uint32_t kFree = ~std::uint32_t{0};
constexpr std::size_t kLeft = kBleuOrder - 1;

// A derivation of a node with what its string matches. To be continued to the left it keeps its first words,
// to the right a state of the automaton.
struct Item {
  double objective = 0;
  double score = 0;
  EdgeIndex edge = -1;
  std::int32_t length = 0;
  std::int32_t matches[kBleuOrder] = {};
  std::int32_t left[kLeft] = {};
  ReferenceAutomaton::State right = ReferenceAutomaton::kStart;
  std::uint32_t string = 0;  // where strings are to be distinct and it is kept, the place of its own
  std::size_t ranks = 0;     // of the tails' items, in a pool
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

  std::vector<RescoredDerivation> run() {
    std::vector<RescoredDerivation> out;
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

  // A candidate is worse if another one should come before it.
  static bool is_worse(const Item& a, const Item& b) {
    if (a.objective != b.objective) return a.objective < b.objective;
    if (a.score != b.score) return a.score < b.score;
    return a.edge > b.edge;
  }

  void fill(NodeIndex v, std::size_t limit) {
    queue_.clear();
    pool_.clear();
    first_string_ = strings_.size();
    seen_.assign(64, kFree);
    share_ = source_ > 0 ? width(v) / source_ : 1;
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      const auto tails = forest_.edge_tails(e);
      if (std::ranges::any_of(tails, [this](NodeIndex u) { return count(u) == 0; })) continue;
      const std::size_t ranks = pool_.size();
      pool_.insert(pool_.end(), tails.size(), 0);
      push(e, ranks);
    }
    begin_ = items_.size();
    while (!queue_.empty() && items_.size() - begin_ < limit) {
      std::ranges::pop_heap(queue_, is_worse);
      Item item = queue_.back();
      queue_.pop_back();
      push_successors(item);
      keep(item);
    }
    // The objective is not monotone: what was found later may be better.
    std::stable_sort(items_.begin() + static_cast<std::ptrdiff_t>(begin_), items_.end(),
                     [](const Item& a, const Item& b) { return is_worse(b, a); });
    for (std::size_t i = begin_; i < items_.size(); ++i) keep_ranks(items_[i]);
    first_[v + 1] = items_.size();
  }

  void keep(Item& item) {
    if (options_.unique) {
      const auto tails = forest_.edge_tails(item.edge);
      const StringHash string = string_of(forest_, item.edge, [&](std::size_t i) -> const StringHash& {
        return strings_[tail(tails, item.ranks, i).string];
      });
      std::uint32_t* slot = slot_of(string);
      if (*slot != kFree) {
        Item& other = items_[begin_ + *slot - first_string_];
        item.string = other.string;
        if (is_worse(other, item)) other = item;
        return;
      }
      *slot = item.string = static_cast<std::uint32_t>(strings_.size());
      strings_.push_back(string);
      if (2 * (strings_.size() - first_string_) > seen_.size()) grow();
    }
    items_.push_back(item);
  }

  // Where the table of the node's strings has this one, or a free slot for it.
  std::uint32_t* slot_of(const StringHash& string) {
    const std::size_t mask = seen_.size() - 1;
    for (std::size_t at = string.value()[0] & mask;; at = (at + 1) & mask) {
      if (seen_[at] == kFree || strings_[seen_[at]].value() == string.value()) return &seen_[at];
    }
  }

  void grow() {
    seen_.assign(2 * seen_.size(), kFree);
    for (std::size_t i = first_string_; i < strings_.size(); ++i)
      *slot_of(strings_[i]) = static_cast<std::uint32_t>(i);
  }

  // Moves the ranks of a node's item out of the pool, which the next node uses again.
  void keep_ranks(Item& item) {
    const auto ranks = pool_.begin() + static_cast<std::ptrdiff_t>(item.ranks);
    item.ranks = ranks_.size();
    ranks_.insert(ranks_.end(), ranks,
                  ranks + static_cast<std::ptrdiff_t>(forest_.edge_tails(item.edge).size()));
  }

  // Every choice of ranks is reached once: only tails from the last raised one on are raised.
  void push_successors(const Item& item) {
    const auto tails = forest_.edge_tails(item.edge);
    std::size_t first = tails.size();
    while (first > 0 && pool_[item.ranks + first - 1] == 0) --first;
    for (std::size_t i = first == 0 ? 0 : first - 1; i < tails.size(); ++i) {
      if (pool_[item.ranks + i] + 1 >= count(tails[i])) continue;
      const std::size_t ranks = pool_.size();
      for (std::size_t j = 0; j < tails.size(); ++j)
        pool_.push_back(pool_[item.ranks + j] + static_cast<std::uint32_t>(i == j));
      push(item.edge, ranks);
    }
  }

  void push(EdgeIndex e, std::size_t ranks) {
    const auto tails = forest_.edge_tails(e);
    Item item;
    item.edge = e;
    item.ranks = ranks;
    item.score = scores_[e];
    for (std::size_t i = 0; i < tails.size(); ++i) item.score += tail(tails, ranks, i).score;
    for (const std::int32_t symbol : forest_.template_of(e)) {
      if (symbol >= 0) {
        add_word(item, symbol, 1);
      } else {
        add_tail(item, tail(tails, ranks, static_cast<std::size_t>(-(symbol + 1))));
      }
    }
    item.right = automaton_.shorten(item.right);
    item.objective = objective(item);
    queue_.push_back(item);
    std::ranges::push_heap(queue_, is_worse);
  }

  const Item& tail(std::span<const NodeIndex> tails, std::size_t ranks, std::size_t i) const {
    return items_[first_[tails[i]] + pool_[ranks + i]];
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
    // n-grams that begin before the tail end in its first words at the latest.
    const std::int32_t known = std::min(tail.length, static_cast<std::int32_t>(kLeft));
    for (std::int32_t i = 0; i < known; ++i) add_word(item, tail.left[i], static_cast<std::size_t>(i) + 2);
    item.length += tail.length - known;
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
      edges.push_back(item.edge);
      const auto tails = forest_.edge_tails(item.edge);
      for (std::size_t i = tails.size(); i-- > 0;) open.push_back(first_[tails[i]] + ranks_[item.ranks + i]);
    }
    return edges;
  }

  const Hypergraph& forest_;
  std::span<const double> scores_;
  std::vector<double> lengths_;  // of references
  const RescoreOptions& options_;
  ReferenceAutomaton automaton_;
  double source_ = 0;
  double reference_length_ = 0;
  double share_ = 1;  // of the sentence, under the node at hand
  std::vector<Item> items_;
  std::vector<std::size_t> first_;    // by node: its items, best first
  std::vector<std::uint32_t> ranks_;  // of the tails of items
  std::vector<StringHash> strings_;   // of items
  // Of the node at hand.
  std::vector<Item> queue_;          // a heap
  std::vector<std::uint32_t> pool_;  // ranks of candidates
  std::size_t begin_ = 0;            // of its items
  std::size_t first_string_ = 0;     // the i-th item kept has the i-th string from here on
  std::vector<std::uint32_t> seen_;  // open addressing: places in strings_
};

}  // namespace

std::vector<RescoredDerivation> rescore(const Hypergraph& forest, std::span<const double> scores,
                                        std::span<const std::vector<std::string>> references,
                                        const RescoreOptions& options) {
  check_edge_values(forest, scores, false, "scores");
  const BleuCounts& document = options.document;
  std::vector<double> counts{document.length, document.reference_length, options.document_source};
  counts.insert(counts.end(), document.totals.begin(), document.totals.end());
  counts.insert(counts.end(), document.matches.begin(), document.matches.end());
  if (!std::ranges::all_of(counts, [](double count) { return std::isfinite(count) && count >= 0; }))
    throw std::invalid_argument("document: expected counts that are finite and not negative");
  if (!(options.mu >= 0)) throw std::invalid_argument("mu: expected 0 to infinity");
  if (options.k < 1 || options.beam < 1) throw std::invalid_argument("k and beam: expected 1 or more");
  return Rescorer(forest, scores, references, options).run();
}

}  // namespace hiero
