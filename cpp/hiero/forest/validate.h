// Whether arrays make a forest: what every forest holds that does not come from the decoder.
#pragma once

#include "hiero/forest/forest.h"

namespace hiero {

// Throws ForestError saying what is wrong: offsets that do not fit, a tail that does not come before its head
// (so that there are no cycles), a node without edges, a root that is not the last node, an index out of
// range, a target template that uses a tail twice or one its edges do not have, a feature value that is not
// finite.
void validate(const Forest& forest);

// The same for the features alone.
void validate_features(const Forest& forest);

// The same for what only forests made from others have: edge_origins and what begins and ends strings.
void validate_annotations(const Hypergraph& forest);

}  // namespace hiero
