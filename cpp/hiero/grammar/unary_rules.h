// Unary rules ([A] ||| [B,1]) as arcs between labels. A cycle of them has no finite set of derivations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

struct UnaryArc {
  LabelId child;
  LabelId parent;
  const std::string* where;  // whose rule it is, or where it stands, for messages
};

// The arcs that lie on a cycle or between two cycles; none if there is no cycle.
std::vector<UnaryArc> cyclic_arcs(std::vector<UnaryArc> arcs, std::size_t labels);

// "[A] ||| [B,1] (where), ...".
std::string arc_list(const std::vector<UnaryArc>& arcs, const std::vector<std::string>& labels);

}  // namespace hiero
