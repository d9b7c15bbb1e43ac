#include "hiero/decode/translation.h"

#include <stdexcept>

#include "hiero/forest/edge_values.h"

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

}  // namespace hiero
