#include "hiero/forest/sampling.h"

#include <random>

#include "hiero/forest/derivation.h"

namespace hiero {

std::vector<std::vector<EdgeIndex>> sample(const Distribution& p, std::size_t count, std::uint64_t seed) {
  const Hypergraph& forest = p.forest();
  std::mt19937_64 random(seed);
  std::vector<std::vector<EdgeIndex>> out(count);
  std::vector<NodeIndex> open;
  for (std::vector<EdgeIndex>& derivation : out) {
    open.assign(1, forest.root);
    while (!open.empty()) {
      const NodeIndex v = open.back();
      open.pop_back();
      double left = static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
      EdgeIndex chosen = -1;
      for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
        if (p.shares()[e] == 0) continue;
        chosen = e;  // the last one, should rounding leave something over
        left -= p.shares()[e];
        if (left < 0) break;
      }
      extend_derivation(derivation, chosen);
      const auto tails = forest.edge_tails(chosen);
      for (std::size_t i = tails.size(); i-- > 0;) open.push_back(tails[i]);
    }
  }
  return out;
}

}  // namespace hiero
