// The union of forests of one sentence: each derivation of any of them, once.
//
// A derivation is known by its rules, one for each span and label; edges without a rule by their target and
// features. The hypergraph is that of a deterministic tree automaton: a node of the union stands for the
// nodes of all forests that have a derivation, so that no two of its nodes share one, whatever the forests'
// own nodes tell apart. What two forests both have takes the features that it has in the first.
#pragma once

#include <memory>
#include <span>

#include "hiero/forest/forest.h"

namespace hiero {

// Derivations stand in the order of the forests, the root's edges first those of the first. Names of words,
// labels, tables and features that are equal become one. Throws std::invalid_argument for no forest or
// different sentences, ForestError where a forest of two would have over 2^31 - 1 array entries.
Forest union_of(std::span<const std::shared_ptr<Forest>> forests);

}  // namespace hiero
