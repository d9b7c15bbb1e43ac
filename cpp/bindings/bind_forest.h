// Shared by the forest and decoder bindings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

struct Derivation {
  std::shared_ptr<const Hypergraph> forest;
  double score;
  std::vector<EdgeIndex> edges;
};

using DoubleVector = py::array_t<double, py::array::c_style | py::array::forcecast>;

// A value per edge: an array, or a mapping from feature names to weights that gives weights . features.
// Throws std::invalid_argument for other shapes, a feature the forest does not know, or a lacking weight.
std::vector<double> edge_values(const Hypergraph& forest, const py::object& values);

// Adds the algorithms to the class.
void register_forest_algorithms(py::class_<Hypergraph, std::shared_ptr<Hypergraph>>& forest, py::module_& m);

std::string join(const std::vector<std::string>& tokens);
py::dict feature_dict(const Hypergraph& forest, std::span<const EdgeIndex> edges);
std::vector<Derivation> kbest(const std::shared_ptr<const Hypergraph>& forest, std::vector<double> scores,
                              std::size_t k, bool unique);

}  // namespace hiero
