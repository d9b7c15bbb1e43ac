// Hypergraphs made by removing edges from others. Target templates are shared with the original;
// `edge_origins` gives the index of each edge there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/forest/distribution.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

// Returns a hypergraph without nodes and edges, and with all else of another.
Hypergraph empty_copy(const Hypergraph& forest);

// Appends to `out`, made by empty_copy of `forest`, a copy of edge e, whose tails must be appended already.
// Throws ForestError for more edges or tails than 32 bits count.
void append_edge(Hypergraph& out, const Hypergraph& forest, EdgeIndex e);

// Returns the forest of the derivations that use only edges with keep[e] != 0; without nodes if there is
// none. Throws std::invalid_argument unless `keep` has an entry per edge.
Hypergraph subforest(const Hypergraph& forest, std::span<const std::uint8_t> keep);

// Removes edges that a derivation uses fewer than `least` times on average; the best derivation stays. An
// empty forest stays empty. Throws std::invalid_argument for a negative number and as Distribution does.
Hypergraph prune_by_posterior(const Hypergraph& forest, std::span<const double> scores, double least);

// Removes edges whose best derivation scores worse than the best of all by more than `margin`. Throws
// std::invalid_argument for scores that check_edge_values refuses or a negative margin.
Hypergraph prune_by_margin(const Hypergraph& forest, std::span<const double> scores, double margin);

// Keeps at most so many edges, those whose best derivations score nearest to the best of all; the edges of
// the best derivation always stay. Edges at the same distance stay or go together. Throws
// std::invalid_argument for scores that check_edge_values refuses.
Hypergraph prune_by_count(const Hypergraph& forest, std::span<const double> scores, std::size_t edges);

}  // namespace hiero
