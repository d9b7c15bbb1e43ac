// Shared by the forest and decoder bindings.
#pragma once

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.h"
#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/forest.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

using DoubleVector = py::array_t<double, py::array::c_style | py::array::forcecast>;

// Of Python's FeatureNames, or any sequence of names. Throws FormatError where a name stands there twice, and
// std::invalid_argument for what is no sequence of strings.
std::shared_ptr<const FeatureNames> feature_names(const py::object& names);

// The weights of features in the order of their ids, 0 where there is none. Throws FormatError for a weight
// that names no feature.
std::vector<double> weight_vector(const py::dict& weights, const FeatureNames& names);

// A value per edge: an array, or a mapping from feature names to weights that gives weights . features.
// Throws std::invalid_argument for other shapes, FormatError as weight_vector does.
std::vector<double> edge_values(const Forest& forest, const py::object& values);

// A forest of a hypergraph made from another's, for Python.
inline std::shared_ptr<Forest> made_from(const Forest& forest, Hypergraph graph) {
  return std::make_shared<Forest>(with_origins(forest, std::move(graph)));
}

// As tuples of words.
py::list ngram_tuples(const EdgeNgrams& found, const std::vector<std::string>& vocabulary);

// Add algorithms to the class.
void register_ngrams(py::class_<Forest, std::shared_ptr<Forest>>& forest);
void register_pickle(py::class_<Forest, std::shared_ptr<Forest>>& forest, py::class_<Derivation>& derivation);
void register_forest_algorithms(py::class_<Forest, std::shared_ptr<Forest>>& forest, py::module_& m);

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// An int of any size.
py::object to_python(const BigUnsigned& number);

// Integers of an array or list, each of which T must be able to hold. Throws std::invalid_argument, with
// `name`, for anything that a cast would cut.
template <class T>
std::vector<T> integers(const py::object& argument, const char* name) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument(std::string(name) + ": " + what);
  };
  const py::array array = py::array::ensure(argument);
  if (!array) fail("expected an array");
  const char kind = array.dtype().kind();
  if (array.size() > 0 && kind != 'i' && kind != 'u') fail("expected integers");
  if (py::isinstance<py::array_t<T, py::array::c_style>>(array)) {
    const T* const data = static_cast<const T*>(array.data());
    return std::vector<T>(data, data + array.size());
  }
  const py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> wide(array);
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(wide.size()));
  for (py::ssize_t i = 0; i < wide.size(); ++i) {
    const std::int64_t value = wide.data()[i];
    // What has no sign has become negative beyond 2^63.
    if (value < (kind == 'u' ? 0 : std::numeric_limits<T>::min()) || value > std::numeric_limits<T>::max())
      fail(std::to_string(value) + " is out of range");
    out.push_back(static_cast<T>(value));
  }
  return out;
}

// The same of a vector.
std::vector<std::int32_t> integer_vector(const py::object& values, const char* name);

// Throws std::invalid_argument for memory that is not bytes one after the other.
void check_bytes(const py::buffer_info& memory);

// Lets Ctrl-C end a loop that has done so many steps; looks at every 1024th. The GIL may be held or not.
void allow_interrupt(std::size_t done);

// Forest.from_arrays.
std::shared_ptr<Forest> from_arrays(const py::kwargs& arrays);
// Forest.with_features.
std::shared_ptr<Forest> with_features(const Forest& forest, const py::object& features,
                                      const py::object& names);

std::string join(const std::vector<std::string>& tokens, const char* separator = " ");

// What an object says of itself: Kind(name=value, ...), strings quoted as Python does.
using Facts = std::vector<std::pair<const char*, py::object>>;
std::string described(const char* kind, const Facts& facts);
// Its picture for notebooks, or None.
py::object picture(const py::object& self);
py::dict feature_dict(const Forest& forest, std::span<const EdgeIndex> edges);

}  // namespace hiero
