// Forced decoding: the derivations of a forest that yield given strings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

// Returns the forest of the derivations whose yield equals one of the references, without nodes if none does.
// Its nodes are pairs of a node of `forest` and the words of a reference that it yields; `edge_origins` gives
// the original edges.
Hypergraph constrain(const Hypergraph& forest, std::span<const std::vector<std::string>> references);

}  // namespace hiero
