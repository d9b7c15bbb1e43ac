// A Python object as local features (hiero/decode/local_features.h).
#pragma once

#include <memory>

#include "bindings.h"
#include "hiero/decode/local_features.h"

namespace hiero {

// `object` has `names` (strings) and is callable with (tokens, batch); it returns a scipy sparse or a
// dense matrix of len(batch) rows and len(names) columns.
std::shared_ptr<const LocalFeatures> local_features_from_python(const py::object& object);

}  // namespace hiero
