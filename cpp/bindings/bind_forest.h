// Declares the parts of the binding of Forest, each of which adds methods to the class.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "bindings.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/forest.h"

namespace hiero {

void register_forest_arrays(nb::class_<Forest>& forest);
void register_forest_algorithms(nb::class_<Forest>& forest);
void register_kbest(nb::module_& m, nb::class_<Forest>& forest);
void register_distribution(nb::module_& m, nb::class_<Forest>& forest);
void register_ngrams(nb::class_<Forest>& forest);
void register_pickle(nb::class_<Forest>& forest, nb::class_<Derivation>& derivation);

// Returns the node of an argument `node`, which is the root by default. Throws std::out_of_range.
NodeIndex node_or_root(const Hypergraph& forest, std::optional<NodeIndex> node);

// Wraps a hypergraph that was made from a forest's for Python.
inline std::shared_ptr<Forest> made_from(const Forest& forest, Hypergraph graph) {
  return std::make_shared<Forest>(with_origins(forest, std::move(graph)));
}

}  // namespace hiero
