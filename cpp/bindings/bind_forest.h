// Shared by the forest and decoder bindings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

struct Derivation {
  std::shared_ptr<const Hypergraph> forest;
  double score;
  std::vector<EdgeIndex> edges;
};

using DoubleVector = py::array_t<double, py::array::c_style | py::array::forcecast>;
using IntVector = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

// A value per edge: an array, or a mapping from feature names to weights that gives weights . features.
// Throws std::invalid_argument for other shapes, a feature the forest does not know, or a lacking weight.
std::vector<double> edge_values(const Hypergraph& forest, const py::object& values);

// Add algorithms to the class.
void register_ngrams(py::class_<Hypergraph, std::shared_ptr<Hypergraph>>& forest);
void register_forest_algorithms(py::class_<Hypergraph, std::shared_ptr<Hypergraph>>& forest, py::module_& m);

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// An int of any size.
py::object to_python(const BigUnsigned& number);

// Lets Ctrl-C end a loop that has done so many steps; looks at every 1024th. The GIL may be held or not.
void allow_interrupt(std::size_t done);

// Forest.from_arrays.
std::shared_ptr<Hypergraph> from_arrays(const py::kwargs& arrays);

std::string join(const std::vector<std::string>& tokens);
py::dict feature_dict(const Hypergraph& forest, std::span<const EdgeIndex> edges);
std::vector<Derivation> kbest(const std::shared_ptr<const Hypergraph>& forest, std::vector<double> scores,
                              std::size_t k, bool unique);

}  // namespace hiero
