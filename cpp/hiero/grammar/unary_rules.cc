#include "hiero/grammar/unary_rules.h"

#include <algorithm>
#include <cstdint>

namespace hiero {
namespace {

// Removes arcs out of labels without incoming arcs, again and again (Kahn 1962). The remaining arcs lie on a
// cycle or can be reached from one. Takes linear time, besides a sort.
void remove_arcs_before_cycles(std::vector<UnaryArc>& arcs, LabelId UnaryArc::* from, LabelId UnaryArc::* to,
                               std::size_t labels) {
  std::vector<std::uint32_t> in_degree(labels, 0);
  for (const UnaryArc& arc : arcs) ++in_degree[arc.*to];
  std::ranges::stable_sort(arcs, {}, from);
  std::vector<LabelId> queue;
  for (LabelId label = 0; label < labels; ++label) {
    if (in_degree[label] == 0) queue.push_back(label);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const UnaryArc& arc : std::ranges::equal_range(arcs, queue[i], {}, from)) {
      if (--in_degree[arc.*to] == 0) queue.push_back(arc.*to);
    }
  }
  std::erase_if(arcs, [&](const UnaryArc& arc) { return in_degree[arc.*from] == 0; });
}

}  // namespace

std::vector<UnaryArc> cyclic_arcs(std::vector<UnaryArc> arcs, std::size_t labels) {
  // The first call removes arcs below all cycles, the second arcs above all cycles.
  remove_arcs_before_cycles(arcs, &UnaryArc::child, &UnaryArc::parent, labels);
  remove_arcs_before_cycles(arcs, &UnaryArc::parent, &UnaryArc::child, labels);
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
