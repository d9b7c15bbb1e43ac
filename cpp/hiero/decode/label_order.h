// A topological order of labels by unary rules (X -> Y puts Y before X): the order in which cells over one
// span are derived from each other. Labels without unary rules are in the order of their ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiero/grammar/unary_rules.h"

namespace hiero {

// Returns the rank of every label. Throws FormatError if the arcs form a cycle, as it would have infinitely
// many derivations.
std::vector<std::uint32_t> rank_labels(const std::vector<std::string>& labels, std::vector<UnaryArc> arcs);

}  // namespace hiero
