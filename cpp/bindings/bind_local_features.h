// Local features written in Python (hiero/decode/local_features.h), and the sentences that they are called
// with.
#pragma once

#include <memory>

#include "bindings.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

// Adds an object to the features of its kind: an object with `names` (strings) and one of by_span(sentence,
// spans), by_gap() and by_rule(sentence, batch); see hiero/features/protocols.py. Throws nb::type_error for
// other objects, std::invalid_argument where by_gap() returns no table.
void add_local_features(const nb::object& object, ModelParts& parts);

// Wraps the object that Python's features are called with as `sentence`.
std::shared_ptr<const Annotations> annotations_of(const nb::object& sentence);

}  // namespace hiero
