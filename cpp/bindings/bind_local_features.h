// Python objects as local features (hiero/decode/local_features.h) and as what these see of a sentence.
#pragma once

#include <memory>

#include "bindings.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

// Puts an object among the features of its kind: one with `names` (strings) and one of by_span(sentence,
// spans), by_gap() or by_rule(sentence, batch); see hiero/features/protocols.py. Throws nb::type_error for
// what has none, std::invalid_argument for a table by gap that is none.
void add_local_features(const nb::object& object, ModelParts& parts);

// The sentence that Python's features are called with.
std::shared_ptr<const Annotations> annotations_of(const nb::object& sentence);

}  // namespace hiero
