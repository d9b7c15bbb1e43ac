// A topological order of labels by unary rules (X -> Y puts Y first): the order in which cells over one
// span are derived from each other. Labels that no unary rule mentions come in order of their ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiero/grammar/unary_rules.h"

namespace hiero {

// The rank of every label. Throws FormatError if the arcs form a cycle, which has no finite set of
// derivations.
std::vector<std::uint32_t> rank_labels(const std::vector<std::string>& labels, std::vector<UnaryArc> arcs);

}  // namespace hiero
