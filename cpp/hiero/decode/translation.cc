#include "hiero/decode/translation.h"

#include <algorithm>
#include <stdexcept>

#include "hiero/forest/distribution.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/word_posteriors.h"

namespace hiero {

std::vector<EdgeIndex> Translation::edges() const {
  const Hypergraph& graph = *best->graph;
  return viterbi(graph, std::vector<double>(graph.edge_tables.size(), 0.0), graph.root);
}

std::vector<std::pair<std::int32_t, std::int32_t>> Translation::alignment() const {
  return hiero::alignment(*best, edges());
}

std::vector<Derivation> Translation::kbest(std::size_t k, bool unique) const {
  if (!forest) throw std::invalid_argument("kbest needs a forest: translate with keep=\"forest\"");
  return hiero::kbest(forest, forest->graph->root, edge_scores(*forest, *weights), k, unique);
}

std::vector<double> Translation::confidence(const Derivation& derivation) const {
  if (!forest) throw std::invalid_argument("confidence needs a forest: translate with keep=\"forest\"");
  if (derivation.edges.empty()) return {};
  std::vector<double> scores = edge_scores(*forest, *weights);
  for (double& score : scores) score /= temperature;
  const Hypergraph& graph = *derivation.forest->graph;
  std::vector<double> out =
      word_posteriors(Distribution(*forest, scores), yield_tokens(graph, derivation.edges));
  for (const auto& [source, target] : hiero::alignment(graph, derivation.edges)) {
    if (std::ranges::find(unknown, static_cast<std::uint32_t>(source)) != unknown.end()) out[target] = 0;
  }
  return out;
}

}  // namespace hiero
