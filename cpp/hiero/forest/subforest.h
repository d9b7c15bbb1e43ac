// Hypergraphs made from others by leaving edges out. Target templates are shared with the hypergraph they
// come from; `edge_origins` says which edges the new ones were.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

// A hypergraph without nodes that has everything else of another.
Hypergraph empty_copy(const Hypergraph& forest);

// Gives `out`, made by empty_copy of `forest`, an edge that stands for edge e of it; its tails must be in
// place. Throws ForestError where there are more than arrays can count.
void append_edge(Hypergraph& out, const Hypergraph& forest, EdgeIndex e);

// The derivations that use only kept edges; without nodes if there is none. Throws std::invalid_argument
// unless `keep` has an entry per edge.
Hypergraph subforest(const Hypergraph& forest, std::span<const std::uint8_t> keep);

// Edges that occur at least `least` times in a derivation on average, and all those of the best one. Throws
// std::invalid_argument for a negative number.
Hypergraph prune_by_posterior(const Distribution& p, std::span<const double> scores, double least);

// Edges with a derivation that scores at most `margin` less than the best. Throws std::invalid_argument for
// scores that check_edge_values refuses or a negative margin.
Hypergraph prune_by_margin(const Hypergraph& forest, std::span<const double> scores, double margin);

// The edges whose best derivations are the nearest to the best of all, at most so many; those of the best one
// in any case. Of edges that are as near, none or all. Throws std::invalid_argument for scores that
// check_edge_values refuses.
Hypergraph prune_by_count(const Hypergraph& forest, std::span<const double> scores, std::size_t edges);

}  // namespace hiero
