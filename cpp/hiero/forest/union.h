// The union of forests of one sentence, in which each derivation of any of them appears once.
//
// Derivations are equal if they have the same rules with the same spans and labels; edges without a rule are
// equal by target and features. The hypergraph is that of a deterministic tree automaton: a node of the union
// is the set of nodes of the forests that share its derivations, so that no two of its nodes share one.
// Derivations of several forests take the features that they have in the first one.
#pragma once

#include <memory>
#include <span>

#include "hiero/forest/forest.h"

namespace hiero {

// Returns the union. Edges of the root are in the order of the forests. Words, labels, tables and features
// are matched by name. Throws std::invalid_argument for no forest or different sentences, ForestError where a
// forest of two would have over 2^31 - 1 array entries.
Forest union_of(std::span<const std::shared_ptr<Forest>> forests);

}  // namespace hiero
