#include "hiero/tune/risk.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "hiero/base/interrupt.h"
#include "hiero/base/parallel.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/edge_values.h"

namespace hiero {
namespace {

constexpr std::size_t kBlockSentences = 16;

// Sums by feature, of which few are touched.
class SparseSum {
 public:
  explicit SparseSum(std::size_t features) : values_(features, 0.0), touched_(features, 0) {}

  void add(std::int32_t feature, double value) {
    const auto place = static_cast<std::size_t>(feature);
    if (!touched_[place]) {
      touched_[place] = 1;
      ids_.push_back(feature);
    }
    values_[place] += value;
  }

  // Returns the sums since the last call, and resets them.
  std::vector<std::pair<std::int32_t, double>> take() {
    std::vector<std::pair<std::int32_t, double>> out;
    for (const std::int32_t id : ids_) {
      const auto place = static_cast<std::size_t>(id);
      out.emplace_back(id, values_[place]);
      values_[place] = 0;
      touched_[place] = 0;
    }
    ids_.clear();
    return out;
  }

 private:
  std::vector<double> values_;
  std::vector<std::uint8_t> touched_;
  std::vector<std::int32_t> ids_;
};

struct BlockSum {
  std::vector<double> counts;
  double entropy = 0;
  double gamma = 0;
  std::vector<std::pair<std::int32_t, double>> gradient;
};

class Summation {
 public:
  Summation(const ForestSource& forests, const EdgeCounts& counts, std::span<const double> loss,
            std::span<const double> weights, const RiskOptions& options)
      : forests_(forests),
        counts_(counts),
        loss_(loss),
        weights_(weights),
        options_(options),
        blocks_((forests.size() + kBlockSentences - 1) / kBlockSentences) {
    total_.counts.assign(counts.columns, 0.0);
    if (options.gradient) total_.gradient.assign(weights.size(), 0.0);
  }

  RiskSum run() {
    const std::size_t features = options_.gradient ? weights_.size() : 0;
    std::vector<SparseSum> gradients(std::min(options_.threads, blocks_), SparseSum(features));
    parallel_for(blocks_, options_.threads,
                 [&](std::size_t block, std::size_t worker) { work(block, worker == 0, gradients[worker]); });
    return std::move(total_);
  }

 private:
  // Sums a block. Only the calling thread can be interrupted.
  void work(std::size_t block, bool is_caller, SparseSum& gradient) {
    BlockSum sum;
    sum.counts.assign(counts_.columns, 0.0);
    const std::size_t end = std::min(forests_.size(), (block + 1) * kBlockSentences);
    for (std::size_t sentence = block * kBlockSentences; sentence < end; ++sentence) {
      if (is_caller) poll_interrupts();
      add(sentence, sum, gradient);
    }
    sum.gradient = gradient.take();
    const std::lock_guard lock(mutex_);
    done_.emplace(block, std::move(sum));
    fold();
  }

  void fold() {
    for (auto first = done_.begin(); first != done_.end() && first->first == folded_;
         first = done_.erase(first), ++folded_) {
      const BlockSum& sum = first->second;
      for (std::size_t c = 0; c < counts_.columns; ++c) total_.counts[c] += sum.counts[c];
      total_.entropy += sum.entropy;
      total_.gamma += sum.gamma;
      for (const auto& [feature, value] : sum.gradient)
        total_.gradient[static_cast<std::size_t>(feature)] += value;
    }
  }

  // Returns the counts of a sentence, row by row.
  std::span<const float> counts_of(std::size_t sentence, EdgeIndex edges) const {
    const std::int64_t begin = counts_.offsets[sentence];
    const auto rows = static_cast<std::int64_t>(counts_.values.size() / counts_.columns);
    if (begin < 0 || begin > rows || edges > rows - begin || counts_.offsets[sentence + 1] != begin + edges)
      throw std::invalid_argument("counts: sentence " + std::to_string(sentence) + " has " +
                                  std::to_string(edges) + " edges");
    const std::span<const float> rows_of_sentence = counts_.values.subspan(
        static_cast<std::size_t>(begin) * counts_.columns, static_cast<std::size_t>(edges) * counts_.columns);
    if (!std::ranges::all_of(rows_of_sentence, [](float value) { return std::isfinite(value); }))
      throw std::invalid_argument("counts: sentence " + std::to_string(sentence) +
                                  ": expected finite numbers");
    return rows_of_sentence;
  }

  void add(std::size_t sentence, BlockSum& sum, SparseSum& gradient) const {
    const std::shared_ptr<const Forest> forest = forests_.forest(sentence);
    const Hypergraph& graph = *forest->graph;
    const EdgeIndex edges = graph.edge_count();
    const float* counts = counts_of(sentence, edges).data();
    if (graph.root < 0) return;
    const std::vector<double> unscaled = edge_scores(*forest, weights_);
    std::vector<double> scores;
    scores.reserve(unscaled.size());
    for (const double score : unscaled) scores.push_back(options_.gamma * score);
    const Distribution p(graph, scores);
    // The objective is the expectation of r, minus T log Z.
    std::vector<double> r;
    r.reserve(scores.size());
    double mean_score = 0;
    double mean = 0;
    for (std::size_t e = 0; e < scores.size(); ++e, counts += counts_.columns) {
      const double posterior = p.edges()[e];
      double loss = 0;
      for (std::size_t c = 0; c < counts_.columns; ++c) {
        sum.counts[c] += posterior * counts[c];
        loss += loss_[c] * counts[c];
      }
      r.push_back(loss + options_.temperature * scores[e]);
      mean_score += posterior * scores[e];
      mean += posterior * r.back();
    }
    sum.entropy += p.log_z() - mean_score;
    if (!options_.gradient) return;
    // Subtracts the mean at the edges into the root, of which every derivation has one.
    for (EdgeIndex e = graph.edge_offsets[graph.root]; e < edges; ++e) r[e] -= mean;
    std::vector<double> slopes = p.edge_expectations(r);
    for (std::size_t e = 0; e < slopes.size(); ++e) sum.gamma += unscaled[e] * slopes[e];
    for (double& slope : slopes) slope *= options_.gamma;
    add_features(*forest, slopes, gradient);
  }

  // Adds slopes times features; rows that several edges share are multiplied once.
  static void add_features(const Forest& forest, const std::vector<double>& slopes, SparseSum& gradient) {
    const std::size_t rows = forest.rows->offsets.size() - 1;
    const auto add_row = [&](std::size_t row, double factor) {
      if (factor == 0) return;
      for (std::int32_t i = forest.rows->offsets[row]; i < forest.rows->offsets[row + 1]; ++i)
        gradient.add(forest.rows->ids[i], factor * forest.rows->values[i]);
    };
    if (forest.edge_rows.size() <= rows) {
      for (std::size_t e = 0; e < slopes.size(); ++e)
        add_row(static_cast<std::size_t>(forest.row_of(static_cast<EdgeIndex>(e))), slopes[e]);
      return;
    }
    std::vector<double> by_row(rows, 0.0);
    for (std::size_t e = 0; e < slopes.size(); ++e)
      by_row[static_cast<std::size_t>(forest.edge_rows[e])] += slopes[e];
    for (std::size_t row = 0; row < rows; ++row) add_row(row, by_row[row]);
  }

  const ForestSource& forests_;
  const EdgeCounts& counts_;
  std::span<const double> loss_;
  std::span<const double> weights_;
  const RiskOptions& options_;
  std::size_t blocks_;
  std::mutex mutex_;
  std::map<std::size_t, BlockSum> done_;  // blocks that wait for an earlier one
  std::size_t folded_ = 0;
  RiskSum total_;
};

}  // namespace

RiskSum minimum_risk(const ForestSource& forests, const EdgeCounts& counts, std::span<const double> loss,
                     std::span<const double> weights, const RiskOptions& options) {
  if (counts.offsets.size() != forests.size() + 1)
    throw std::invalid_argument("offsets: expected " + std::to_string(forests.size() + 1));
  if (counts.columns < 1 || loss.size() != counts.columns)
    throw std::invalid_argument("loss: expected a number for each column of counts");
  if (!(options.gamma > 0) || !std::isfinite(options.gamma) || !std::isfinite(options.temperature) ||
      options.threads < 1)
    throw std::invalid_argument("minimum risk: expected gamma > 0, a finite temperature, a thread or more");
  return Summation(forests, counts, loss, weights, options).run();
}

}  // namespace hiero
