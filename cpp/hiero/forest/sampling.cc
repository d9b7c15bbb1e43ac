#include "hiero/forest/sampling.h"

#include <random>
#include <utility>

namespace hiero {

namespace {

std::vector<EdgeIndex> sample_edges(const Distribution& p, std::mt19937_64& random) {
  const Hypergraph& forest = p.forest();
  std::vector<EdgeIndex> derivation;
  std::vector<NodeIndex> open{forest.root};
  while (!open.empty()) {
    const NodeIndex v = open.back();
    open.pop_back();
    double left = static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
    EdgeIndex chosen = -1;
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      if (p.shares()[e] == 0) continue;
      chosen = e;  // the last one, if rounding leaves a rest
      left -= p.shares()[e];
      if (left < 0) break;
    }
    extend_derivation(derivation, chosen);
    const auto tails = forest.edge_tails(chosen);
    for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
  }
  return derivation;
}

}  // namespace

std::vector<Derivation> sample(const std::shared_ptr<const Forest>& forest, std::span<const double> scores,
                               const Distribution& p, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Derivation> out;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<EdgeIndex> edges = sample_edges(p, random);
    const double score = total(scores, edges);
    out.push_back({forest, score, std::move(edges)});
  }
  return out;
}

}  // namespace hiero
