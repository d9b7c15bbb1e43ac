#include "hiero/forest/annotate.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/string_hash.h"
#include "hiero/forest/subforest.h"

namespace hiero {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int64_t kPollEvery = 4096;

class Annotator {
 public:
  Annotator(const Hypergraph& forest, std::int32_t n, const AnnotateOptions& options)
      : forest_(forest),
        options_(options),
        size_(static_cast<std::size_t>(n - 1)),
        out_(empty_copy(forest)),
        first_(forest.node_count(), 0),
        past_(forest.node_count(), 0),
        silent_(forest.node_count(), kNone),
        is_silent_(silent_nodes(forest)) {
    out_.ngram_order = n;
    if (std::ranges::find(is_silent_, 1) != is_silent_.end()) add_empty_target();
  }

  Hypergraph run() {
    if (forest_.root < 0) return std::move(out_);
    std::vector<std::uint8_t> used(forest_.node_count(), 0);
    used[forest_.root] = 1;
    for (NodeIndex v = forest_.root; v >= 0; --v) {
      if (!used[v]) continue;
      for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
        for (const NodeIndex u : forest_.edge_tails(e)) used[u] = 1;
      }
    }
    for (NodeIndex v = 0; v < forest_.root; ++v) {
      if (used[v] && is_silent_[v]) silence(v);
      if (used[v]) split(v, false);
    }
    split(forest_.root, true);
    out_.root = out_.node_count() - 1;
    return trimmed();
  }

 private:
  // A node of the result before it is appended. `edges` holds for each edge the old edge, then its new tails.
  struct Variant {
    std::vector<std::int32_t> boundaries;
    std::vector<std::int32_t> edges;
    double best = -std::numeric_limits<double>::infinity();
  };

  void split(NodeIndex v, bool is_root) {
    variants_.clear();
    index_.clear();
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      const auto tails = forest_.edge_tails(e);
      low_.clear();
      past_last_.clear();
      for (std::size_t i = 0; i < tails.size(); ++i) {
        const bool silent = omits_tail(forest_, e, i);
        low_.push_back(silent ? silent_[tails[i]] : first_[tails[i]]);
        past_last_.push_back(silent ? low_.back() + 1 : past_[tails[i]]);
      }
      choice_ = low_;
      do {
        add(e, is_root);
      } while (advance());
    }
    emit(v);
  }

  // Goes on to the next combination of variants of the tails; false after the last one.
  bool advance() {
    for (std::size_t i = choice_.size(); i-- > 0;) {
      if (++choice_[i] < past_last_[i]) return true;
      choice_[i] = low_[i];
    }
    return false;
  }

  // Adds a copy of a node whose edges yield no words, for tails that a target omits.
  void silence(NodeIndex v) {
    double best = -std::numeric_limits<double>::infinity();
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      double score = options_.beam > 0 ? options_.scores[e] : 0;
      for (const NodeIndex u : forest_.edge_tails(e)) {
        out_.tails.push_back(silent_[u]);
        score += best_[silent_[u]];
      }
      append_edge(out_, forest_, e);
      out_.edge_targets.back() = empty_target_;
      best = std::max(best, score);
      count_edge();
    }
    key_.assign(2 * size_, kNone);
    silent_[v] = add_node(v, key_, best);
  }

  void add_empty_target() {
    auto targets = std::make_shared<TargetTemplates>(*forest_.targets);
    empty_target_ = targets->size();
    targets->offsets.push_back(targets->offsets.back());
    targets->link_offsets.push_back(targets->link_offsets.back());
    if (!targets->path_offsets.empty()) targets->path_offsets.push_back(targets->path_offsets.back());
    out_.targets = std::move(targets);
  }

  void count_edge() {
    if (++edges_ % kPollEvery == 0) poll_interrupts();
    if (edges_ <= options_.max_edges) return;
    throw ForestError("annotate_ngrams: over " + std::to_string(options_.max_edges) +
                      " edges for n = " + std::to_string(out_.ngram_order) +
                      "; prune the forest first, lower n, set a beam, or raise max_edges");
  }

  // Adds the node of the edges appended last.
  NodeIndex add_node(NodeIndex v, const std::vector<std::int32_t>& boundaries, double best) {
    out_.node_spans.insert(out_.node_spans.end(), {forest_.node_spans[2 * v], forest_.node_spans[2 * v + 1]});
    out_.node_labels.push_back(forest_.node_labels[v]);
    out_.node_boundaries.insert(out_.node_boundaries.end(), boundaries.begin(), boundaries.end());
    out_.edge_offsets.push_back(out_.edge_count());
    best_.push_back(best);
    return out_.node_count() - 1;
  }

  void add(EdgeIndex e, bool is_root) {
    count_edge();
    key_.assign(2 * size_, kNone);
    if (!is_root) find_boundaries(e);
    const auto [entry, is_new] = index_.try_emplace(key_, variants_.size());
    if (is_new) variants_.push_back({key_, {}, -std::numeric_limits<double>::infinity()});
    Variant& variant = variants_[entry->second];
    variant.edges.push_back(e);
    variant.edges.insert(variant.edges.end(), choice_.begin(), choice_.end());
    if (options_.beam == 0) return;
    double score = options_.scores[e];
    for (const NodeIndex u : choice_) score += best_[u];
    variant.best = std::max(variant.best, score);
  }

  void find_boundaries(EdgeIndex e) {
    const auto symbols = forest_.template_of(e);
    std::size_t filled = 0;
    for (std::size_t i = 0; i < symbols.size() && filled < size_; ++i) {
      if (symbols[i] >= 0) {
        key_[filled++] = symbols[i];
        continue;
      }
      const auto boundaries = out_.boundaries_of(choice_[-(symbols[i] + 1)]);
      for (std::size_t k = 0; k < size_ && filled < size_ && boundaries[k] != kNone; ++k)
        key_[filled++] = boundaries[k];
    }
    filled = 0;
    for (std::size_t i = symbols.size(); i-- > 0 && filled < size_;) {
      if (symbols[i] >= 0) {
        key_[2 * size_ - ++filled] = symbols[i];
        continue;
      }
      const auto boundaries = out_.boundaries_of(choice_[-(symbols[i] + 1)]);
      for (std::size_t k = 2 * size_; k-- > size_ && filled < size_ && boundaries[k] != kNone;)
        key_[2 * size_ - ++filled] = boundaries[k];
    }
  }

  void emit(NodeIndex v) {
    std::vector<std::size_t> order(variants_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (options_.beam > 0 && order.size() > static_cast<std::size_t>(options_.beam)) {
      std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return variants_[i].best; });
      order.resize(static_cast<std::size_t>(options_.beam));
      std::ranges::sort(order);
    }
    first_[v] = out_.node_count();
    for (const std::size_t i : order) {
      const Variant& variant = variants_[i];
      for (std::size_t at = 0; at < variant.edges.size();) {
        const EdgeIndex e = variant.edges[at];
        const std::size_t arity = forest_.edge_tails(e).size();
        const auto tails = variant.edges.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        out_.tails.insert(out_.tails.end(), tails, tails + static_cast<std::ptrdiff_t>(arity));
        append_edge(out_, forest_, e);
        at += 1 + arity;
      }
      add_node(v, variant.boundaries, variant.best);
    }
    past_[v] = out_.node_count();
  }

  // Removes nodes that no derivation uses: below pruned variants, and variants of silent nodes.
  Hypergraph trimmed() {
    const bool all_used = options_.beam == 0 && empty_target_ == kNone;
    if (all_used) return std::move(out_);
    Hypergraph out = subforest(out_, std::vector<std::uint8_t>(out_.edge_tables.size(), 1));
    for (EdgeIndex& e : out.edge_origins) e = out_.edge_origins[e];
    return out;
  }

  const Hypergraph& forest_;
  const AnnotateOptions& options_;
  std::size_t size_;  // number of words of a boundary
  Hypergraph out_;
  std::vector<NodeIndex> first_, past_;  // by old node: the range of its variants
  std::vector<NodeIndex> silent_;        // by old node: its copy without words
  std::vector<std::uint8_t> is_silent_;
  std::int32_t empty_target_ = kNone;
  std::int64_t edges_ = 0;
  std::vector<double> best_;  // by new node: score of its best derivation
  std::vector<Variant> variants_;
  std::unordered_map<std::vector<std::int32_t>, std::size_t, WordsHash, WordsEqual> index_;
  std::vector<NodeIndex> low_, past_last_, choice_;  // by tail position of the current edge
  std::vector<std::int32_t> key_;
};

}  // namespace

Hypergraph annotate_ngrams(const Hypergraph& forest, std::int32_t n, const AnnotateOptions& options) {
  // Each node stores 2 (n - 1) words.
  if (n < 1 || n > 100) throw std::invalid_argument("n: expected 1 to 100");
  if (options.beam > 0) check_edge_values(forest, options.scores, true, "scores");
  return Annotator(forest, n, options).run();
}

}  // namespace hiero
