#include "hiero/forest/edge_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace hiero {

void check_edge_values(const Hypergraph& forest, std::span<const double> values, bool minus_infinity,
                       const char* name) {
  if (values.size() != static_cast<std::size_t>(forest.edge_count())) {
    throw std::invalid_argument(std::string(name) + ": expected one per edge, " +
                                std::to_string(forest.edge_count()) + ", got " +
                                std::to_string(values.size()));
  }
  for (std::size_t e = 0; e < values.size(); ++e) {
    if (std::isfinite(values[e])) continue;
    if (minus_infinity && values[e] == -std::numeric_limits<double>::infinity()) continue;
    throw std::invalid_argument(std::string(name) + ": edge " + std::to_string(e) + " has " +
                                std::to_string(values[e]));
  }
}

std::vector<double> edge_scores(const Forest& forest, std::span<const double> weights) {
  if (weights.size() != forest.feature_names->size()) {
    throw std::invalid_argument("expected " + std::to_string(forest.feature_names->size()) +
                                " weights, got " + std::to_string(weights.size()));
  }
  const FeatureRows& rows = *forest.rows;
  const auto row_score = [&](std::size_t row) {
    double sum = 0.0;
    for (std::int32_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      sum += weights[rows.ids[i]] * rows.values[i];
    return sum;
  };
  std::vector<double> scores;
  const EdgeIndex edges = forest.graph->edge_count();
  scores.reserve(static_cast<std::size_t>(edges));
  const std::size_t row_count = rows.offsets.size() - 1;
  if (forest.edge_rows.size() <= row_count) {
    // A pruned forest uses few of the rows that it shares.
    for (EdgeIndex e = 0; e < edges; ++e) scores.push_back(row_score(forest.row_of(e)));
    return scores;
  }
  std::vector<double> by_row;
  for (std::size_t row = 0; row < row_count; ++row) by_row.push_back(row_score(row));
  for (const std::int32_t row : forest.edge_rows) scores.push_back(by_row[row]);
  return scores;
}

void add_weighted_features(const Forest& forest, std::span<const double> factors, std::span<double> sums) {
  const EdgeIndex edges = forest.graph->edge_count();
  if (factors.size() != static_cast<std::size_t>(edges)) {
    throw std::invalid_argument("expected one factor per edge");
  }
  if (sums.size() != forest.feature_names->size())
    throw std::invalid_argument("expected one sum per feature");
  for (EdgeIndex e = 0; e < edges; ++e) {
    const auto ids = forest.feature_ids(e);
    const auto values = forest.feature_values(e);
    for (std::size_t i = 0; i < ids.size(); ++i) sums[ids[i]] += factors[e] * values[i];
  }
}

std::int32_t rule_words(const Hypergraph& forest, EdgeIndex e) {
  return static_cast<std::int32_t>(
      std::ranges::count_if(forest.template_of(e), [](auto s) { return s >= 0; }));
}

std::vector<std::int32_t> rule_words(const Hypergraph& forest) {
  std::vector<std::int32_t> words;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) words.push_back(rule_words(forest, e));
  return words;
}

std::vector<double> covered_shares(const Hypergraph& forest) {
  std::vector<double> shares(forest.edge_tables.size(), 0.0);
  if (forest.root < 0) return shares;
  const auto width = [&](NodeIndex v) {
    return static_cast<double>(forest.node_spans[2 * v + 1]) - forest.node_spans[2 * v];
  };
  const double whole = width(forest.root);
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double covered = width(v);
      for (const NodeIndex u : forest.edge_tails(e)) covered -= width(u);
      if (whole > 0) shares[e] = covered / whole;
    }
  }
  return shares;
}

}  // namespace hiero
