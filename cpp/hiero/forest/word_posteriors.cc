#include "hiero/forest/word_posteriors.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace hiero {
namespace {

// Returns the expected number of times that each of the forest's words is in a derivation's string. What is
// below a tail that a target omits yields nothing.
std::vector<double> expected_counts(const Distribution& distribution) {
  const Hypergraph& forest = distribution.forest();
  std::vector<double> uses(static_cast<std::size_t>(forest.node_count()), 0.0);
  std::vector<double> counts(forest.words.size(), 0.0);
  uses[forest.root] = 1;
  for (NodeIndex head = forest.root; head >= 0; --head) {
    if (uses[head] == 0) continue;
    for (EdgeIndex e = forest.edge_offsets[head]; e < forest.edge_offsets[head + 1]; ++e) {
      const double edge_uses = uses[head] * distribution.shares()[e];
      const auto tails = forest.edge_tails(e);
      for (const std::int32_t symbol : forest.template_of(e))
        (symbol >= 0 ? counts[symbol] : uses[tails[-1 - symbol]]) += edge_uses;
    }
  }
  return counts;
}

}  // namespace

std::vector<double> word_posteriors(const Distribution& distribution, std::span<const std::string> words) {
  const std::vector<double> expected = expected_counts(distribution);
  std::unordered_map<std::string_view, std::int32_t> in_translation;
  for (const std::string& word : words) ++in_translation[word];
  std::unordered_map<std::string_view, double> in_forest;
  const std::vector<std::string>& vocabulary = distribution.forest().words;
  for (std::size_t w = 0; w < vocabulary.size(); ++w) {
    if (in_translation.contains(vocabulary[w])) in_forest[vocabulary[w]] += expected[w];
  }
  std::vector<double> out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    const auto found = in_forest.find(word);
    out.push_back(found == in_forest.end() ? 0.0 : std::min(found->second / in_translation[word], 1.0));
  }
  return out;
}

}  // namespace hiero
