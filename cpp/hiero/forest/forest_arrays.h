// Builds a forest from arrays of any origin, such as NumPy's: fills in what is left out, and checks the rest.
//
// How to use: ForestArrays arrays; arrays.edge_offsets = ...; make_forest(std::move(arrays)).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hiero/base/feature_names.h"
#include "hiero/forest/forest.h"

namespace hiero {

// Arrays as in Hypergraph, TargetTemplates and Forest. Of the optional ones, spans default to (0, 0), labels,
// tables and rules to -1; links and features to none, and targets to those that join the yields of the tails.
struct ForestArrays {
  std::vector<std::int32_t> edge_offsets;
  std::vector<std::int32_t> tail_offsets;
  std::vector<std::int32_t> tails;
  std::optional<std::vector<std::int32_t>> node_spans;
  std::optional<std::vector<std::int32_t>> node_labels;
  std::optional<std::vector<std::int32_t>> edge_tables;
  std::optional<std::vector<std::int64_t>> edge_rules;
  std::optional<std::vector<std::int32_t>> edge_targets;
  std::vector<std::int32_t> target_offsets;
  std::vector<std::int32_t> target_symbols;
  std::optional<std::vector<std::int32_t>> link_offsets;
  std::vector<std::int32_t> links;
  std::optional<FeatureRows> features;
  std::shared_ptr<const FeatureNames> feature_names = std::make_shared<const FeatureNames>();
  std::vector<std::int32_t> path_offsets;  // of a lattice
  std::vector<std::int32_t> path;
  std::vector<std::int32_t> source_nodes;
  std::vector<std::string> source;
  std::vector<std::string> words;
  std::vector<std::string> labels;
  std::vector<std::string> tables;

  std::size_t node_count() const { return edge_offsets.empty() ? 0 : edge_offsets.size() - 1; }
  std::size_t edge_count() const { return tail_offsets.empty() ? 0 : tail_offsets.size() - 1; }
};

// Makes a forest whose root is the last node. Throws ForestError as validate does.
std::shared_ptr<Forest> make_forest(ForestArrays arrays);

// Returns the same forest with other features. Throws ForestError as validate_features does.
std::shared_ptr<Forest> with_features(const Forest& forest, FeatureRows rows,
                                      std::shared_ptr<const FeatureNames> names);

}  // namespace hiero
