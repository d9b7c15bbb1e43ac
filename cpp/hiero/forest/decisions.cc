#include "hiero/forest/decisions.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "hiero/forest/edge_values.h"
#include "hiero/forest/ngram_posteriors.h"
#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

void check_order(const Hypergraph& forest, std::int32_t order) {
  if (order < 1 || order > forest.ngram_order)
    throw std::invalid_argument("the forest is annotated with n = " + std::to_string(forest.ngram_order) +
                                ", not for " + std::to_string(order) + "-grams");
}

}  // namespace

std::vector<double> mbr_values(const Distribution& p, std::span<const double> theta) {
  const Hypergraph& forest = p.forest();
  check_order(forest, static_cast<std::int32_t>(theta.size()) - 1);
  const EdgeNgrams ngrams = edge_ngrams(forest);
  const std::vector<double> posteriors = ngram_posteriors(p, ngrams);
  std::vector<double> gains;
  for (std::size_t id = 0; id < posteriors.size(); ++id) {
    const std::size_t n = ngrams.ngrams[id].size();
    gains.push_back(n < theta.size() ? theta[n] * posteriors[id] : 0.0);
  }
  std::vector<double> out;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    double value = theta[0] * rule_words(forest, e);
    for (std::int32_t i = ngrams.offsets[e]; i < ngrams.offsets[e + 1]; ++i)
      value += gains[static_cast<std::size_t>(ngrams.ids[i])];
    out.push_back(value);
  }
  return out;
}

EdgeNgrams padded_ngrams(const Hypergraph& forest, std::int32_t order) {
  check_order(forest, order);
  NgramReader reader(forest);
  EdgeNgrams out;
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, WordsHash, WordsEqual> index;
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      reader.read_padded(e, order, v == forest.root, [&](std::span<const std::int32_t> ngram) {
        const auto [entry, is_new] =
            index.try_emplace({ngram.begin(), ngram.end()}, static_cast<std::int32_t>(out.ngrams.size()));
        if (is_new) out.ngrams.push_back(entry->first);
        out.ids.push_back(entry->second);
      });
      out.offsets.push_back(array_offset(out.ids.size()));
    }
  }
  return out;
}

std::vector<double> variational_values(const Distribution& p, std::int32_t order) {
  const Hypergraph& forest = p.forest();
  const EdgeNgrams ngrams = padded_ngrams(forest, order);
  const std::vector<double> expected = ngram_expectations(p, ngrams);
  // Expected counts of histories: n-grams without their last words.
  std::unordered_map<std::vector<std::int32_t>, double, WordsHash, WordsEqual> histories;
  const auto history = [](const std::vector<std::int32_t>& ngram) {
    return std::vector<std::int32_t>(ngram.begin(), ngram.end() - 1);
  };
  for (std::size_t id = 0; id < expected.size(); ++id) histories[history(ngrams.ngrams[id])] += expected[id];
  std::vector<double> logs;
  for (std::size_t id = 0; id < expected.size(); ++id)
    logs.push_back(std::log(expected[id]) - std::log(histories[history(ngrams.ngrams[id])]));
  std::vector<double> out;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    double value = 0;
    for (std::int32_t i = ngrams.offsets[e]; i < ngrams.offsets[e + 1]; ++i) {
      const double log = logs[static_cast<std::size_t>(ngrams.ids[i])];
      // NaN: no derivation of positive weight has the n-gram, nor its history.
      value += std::isnan(log) ? -INFINITY : log;
    }
    out.push_back(value);
  }
  return out;
}

}  // namespace hiero
