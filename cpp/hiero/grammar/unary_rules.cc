#include "hiero/grammar/unary_rules.h"

#include <algorithm>
#include <cstdint>

namespace hiero {
namespace {

// Drops, until there are none, arcs out of labels that no arc leads into: what stays lies on a cycle or
// can be reached from one. Linear but for the sort (Kahn 1962).
void drop_loose_arcs(std::vector<UnaryArc>& arcs, LabelId UnaryArc::* from, LabelId UnaryArc::* to,
                     std::size_t labels) {
  std::vector<std::uint32_t> leading_in(labels, 0);
  for (const UnaryArc& arc : arcs) ++leading_in[arc.*to];
  std::ranges::stable_sort(arcs, {}, from);
  std::vector<LabelId> loose;
  for (LabelId label = 0; label < labels; ++label) {
    if (leading_in[label] == 0) loose.push_back(label);
  }
  for (std::size_t i = 0; i < loose.size(); ++i) {
    for (const UnaryArc& arc : std::ranges::equal_range(arcs, loose[i], {}, from)) {
      if (--leading_in[arc.*to] == 0) loose.push_back(arc.*to);
    }
  }
  std::erase_if(arcs, [&](const UnaryArc& arc) { return leading_in[arc.*from] == 0; });
}

}  // namespace

std::vector<UnaryArc> cyclic_arcs(std::vector<UnaryArc> arcs, std::size_t labels) {
  // What hangs below a cycle goes first, then what hangs above one.
  drop_loose_arcs(arcs, &UnaryArc::child, &UnaryArc::parent, labels);
  drop_loose_arcs(arcs, &UnaryArc::parent, &UnaryArc::child, labels);
  return arcs;
}

std::string arc_list(const std::vector<UnaryArc>& arcs, const std::vector<std::string>& labels) {
  std::string text;
  for (const UnaryArc& arc : arcs) {
    if (!text.empty()) text += ", ";
    text += "[" + labels[arc.parent] + "] ||| [" + labels[arc.child] + ",1] (" + *arc.where + ")";
  }
  return text;
}

}  // namespace hiero
