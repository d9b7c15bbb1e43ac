// The binary form of a forest in archives and pickles. It holds everything but the names of features, which
// many forests share. Feature rows that several edges share are written once.
//
//   "HFR2", checksum of what follows, then numbers as in varint.h:
//   strings, nodes of a source lattice, target templates, nodes, kinds of edges (table, rule and template),
//   edges, feature rows, n-gram boundaries, edge origins.
//
// Edges of a kind differ mostly in language model scores: of a row with the same features as the last row of
// its kind, only the values that differ are written. Small whole numbers take one or two bytes, other values
// eight.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

// Returns the record of a forest.
std::vector<std::byte> write_record(const Forest& forest);

// Reads a record. Throws ForestError for bytes that are no record, damaged, or make no forest with these
// names.
Forest read_record(std::span<const std::byte> record, std::shared_ptr<const FeatureNames> names);

}  // namespace hiero
