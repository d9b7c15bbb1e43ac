// Finds cycles of unary rules, such as [A] ||| [B,1] and [B] ||| [A,1]. A grammar with such a cycle has
// infinitely many derivations of a sentence. Rules are arcs of a graph of labels.
//
// How to use: auto arcs = cyclic_arcs(all_arcs, labels.size()); if it is not empty, arc_list(arcs, labels) is
// the text for an error message.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hiero/base/symbol.h"

namespace hiero {

struct UnaryArc {
  LabelId child;
  LabelId parent;
  const std::string* where;  // the owner or the place of the rule, for messages
};

// Returns the arcs that lie on a cycle or on a path between two cycles.
std::vector<UnaryArc> cyclic_arcs(std::vector<UnaryArc> arcs, std::size_t labels);

// Returns "[A] ||| [B,1] (where), ...".
std::string arc_list(const std::vector<UnaryArc>& arcs, const std::vector<std::string>& labels);

}  // namespace hiero
