// Checks of forests that do not come from the decoder.
#pragma once

#include "hiero/forest/forest.h"

namespace hiero {

// Throws ForestError saying what is wrong: offsets that do not fit, a tail that does not come before its head
// (so that there are no cycles), a node without edges, a root that is not the last node, an index out of
// range, a target template that uses a tail twice or one its edges do not have, a feature value that is not
// finite.
void validate(const Forest& forest);

// Checks the features only.
void validate_features(const Forest& forest);

// Checks edge_origins and node_boundaries, which only forests made from others have.
void validate_annotations(const Hypergraph& forest);

}  // namespace hiero
