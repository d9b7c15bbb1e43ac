// A forest as bytes: what archives hold of each, and what pickles it. Names of features are not in it, as
// many forests have the same. Everything else is, also what only forests made from others have; feature rows
// that edges share are there once.
//
//   "HFR1", checksum of what follows, then numbers as in varint.h:
//   strings, target templates, nodes, kinds of edges (table, rule and template), edges, feature rows, n-gram
//   boundaries, edge origins.
//
// Edges of a kind mostly differ in language model scores alone: of a row with the same features as the last
// one of its kind only the values that differ are written. Values that are small whole numbers take a byte or
// two, others their eight.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

std::vector<std::byte> write_record(const Forest& forest);

// Throws ForestError for bytes that are no record, damaged, or make no forest with these names.
Forest read_record(std::span<const std::byte> record, std::shared_ptr<const FeatureNames> names);

}  // namespace hiero
