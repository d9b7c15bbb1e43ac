// Conversions between Python's values and the core's that several bindings need.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "hiero/base/feature_names.h"
#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/forest.h"

namespace hiero {

// Converts hiero.FeatureNames, or any sequence of names. Throws FormatError for a repeated name, and
// std::invalid_argument for anything but a sequence of strings.
std::shared_ptr<const FeatureNames> feature_names(const nb::object& names);

// Converts a mapping from names to weights to a vector by feature id, 0 for features that it does not have.
// Throws FormatError for a weight that names no feature.
std::vector<double> weight_vector(const nb::object& weights, const FeatureNames& names);

bool is_mapping(const nb::object& object);

// Converts an array with a value per edge, or a mapping from feature names to weights, which gives
// weights . features. Throws std::invalid_argument for other shapes, FormatError as weight_vector does.
std::vector<double> edge_values(const Forest& forest, const nb::object& values);

// Converts (feature, value) pairs to a dict by feature name.
FeatureValues feature_dict(const Forest& forest, std::span<const std::pair<std::int32_t, double>> features);

// Converts to an int of any size.
nb::object to_python(const BigUnsigned& number);

// Makes a scipy.sparse.csr_array that views rows which the Python object `owner` holds.
SparseMatrix csr_view(const FeatureRows& rows, std::size_t columns, const nb::handle& owner);

// Converts an array or list of integers. Throws std::invalid_argument, beginning with `name`, for values that
// are no integers or that T cannot hold.
template <class T>
std::vector<T> integers(const nb::object& argument, const char* name) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument(std::string(name) + ": " + what);
  };
  const nb::object array = numpy::ensure(argument);
  if (!array) fail("expected an array");
  const char kind = numpy::kind(array);
  if (numpy::size(array) > 0 && kind != 'i' && kind != 'u') fail("expected integers");
  if (kind == 'i' && nb::cast<std::size_t>(array.attr("itemsize")) == sizeof(T)) {
    const Array<T> same(array);
    return {same.values().begin(), same.values().end()};
  }
  const Array<std::int64_t> wide(array);
  std::vector<T> out;
  out.reserve(wide.values().size());
  for (const std::int64_t value : wide.values()) {
    // Unsigned values beyond 2^63 have become negative.
    if (value < (kind == 'u' ? 0 : std::numeric_limits<T>::min()) || value > std::numeric_limits<T>::max())
      fail(std::to_string(value) + " is out of range");
    out.push_back(static_cast<T>(value));
  }
  return out;
}

// Does the same for a vector only.
std::vector<std::int32_t> integer_vector(const nb::object& values, const char* name);

// Returns the values of a vector. Throws std::invalid_argument, beginning with `name`, for other shapes.
template <class T>
std::span<const T> vector_values(const Array<T>& array, const char* name) {
  if (array.ndim() != 1) throw std::invalid_argument(std::string(name) + ": expected a vector");
  return array.values();
}

// The bytes of a Python object with a buffer. Throws std::invalid_argument for memory that is not contiguous
// bytes, and Python's TypeError for objects without a buffer.
class ByteView {
 public:
  explicit ByteView(const nb::handle& object);
  ByteView(const ByteView&) = delete;
  ByteView& operator=(const ByteView&) = delete;
  ~ByteView() { PyBuffer_Release(&memory_); }

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(memory_.buf), static_cast<std::size_t>(memory_.len)};
  }

 private:
  Py_buffer memory_;
};

// The repr of an object: Kind(name=value, ...), strings quoted as Python does.
using Facts = std::vector<std::pair<const char*, nb::object>>;
std::string described(const char* kind, const Facts& facts);

// An object's picture for notebooks, or None.
nb::object picture(const nb::object& self);

}  // namespace hiero
