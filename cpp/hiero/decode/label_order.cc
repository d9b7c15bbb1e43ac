#include "hiero/decode/label_order.h"

#include <algorithm>
#include <utility>

#include "hiero/base/error.h"

namespace hiero {

std::vector<std::uint32_t> rank_labels(const std::vector<std::string>& labels, std::vector<UnaryArc> arcs) {
  constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
  std::vector<std::uint32_t> open_children(labels.size(), 0);
  for (const UnaryArc& arc : arcs) ++open_children[arc.parent];
  std::vector<std::uint32_t> ranks(labels.size(), kNoRank);
  std::vector<LabelId> ready;
  for (LabelId label = 0; label < labels.size(); ++label) {
    if (open_children[label] == 0) ready.push_back(label);
  }
  std::uint32_t next = 0;
  std::ranges::stable_sort(arcs, {}, &UnaryArc::child);
  while (next < ready.size()) {
    const LabelId label = ready[next];
    ranks[label] = next++;
    for (const UnaryArc& arc : std::ranges::equal_range(arcs, label, {}, &UnaryArc::child)) {
      if (--open_children[arc.parent] == 0) ready.push_back(arc.parent);
    }
  }
  if (next == labels.size()) return ranks;
  throw FormatError("unary rules form a cycle: " +
                    arc_list(cyclic_arcs(std::move(arcs), labels.size()), labels));
}

}  // namespace hiero
