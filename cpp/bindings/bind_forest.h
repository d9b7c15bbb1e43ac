// Shared by the forest and decoder bindings.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.h"
#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/forest.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// Of Python's FeatureNames, or any sequence of names. Throws FormatError where a name stands there twice, and
// std::invalid_argument for what is no sequence of strings.
std::shared_ptr<const FeatureNames> feature_names(const nb::object& names);

// The weights of a mapping in the order of the features' ids, 0 where there is none. Throws FormatError for a
// weight that names no feature.
std::vector<double> weight_vector(const nb::object& weights, const FeatureNames& names);

// A value per edge: an array, or a mapping from feature names to weights that gives weights . features.
// Throws std::invalid_argument for other shapes, FormatError as weight_vector does.
std::vector<double> edge_values(const Forest& forest, const nb::object& values);

// A forest of a hypergraph made from another's, for Python.
inline std::shared_ptr<Forest> made_from(const Forest& forest, Hypergraph graph) {
  return std::make_shared<Forest>(with_origins(forest, std::move(graph)));
}

// As tuples of words.
nb::list ngram_tuples(const EdgeNgrams& found, const std::vector<std::string>& vocabulary);

// Add algorithms to the class.
void register_ngrams(nb::class_<Forest>& forest);
void register_pickle(nb::class_<Forest>& forest, nb::class_<Derivation>& derivation);
void register_forest_algorithms(nb::class_<Forest>& forest, nb::module_& m);

// An int of any size.
nb::object to_python(const BigUnsigned& number);

// Integers of an array or list, each of which T must be able to hold. Throws std::invalid_argument, with
// `name`, for anything that a cast would cut.
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
    // What has no sign has become negative beyond 2^63.
    if (value < (kind == 'u' ? 0 : std::numeric_limits<T>::min()) || value > std::numeric_limits<T>::max())
      fail(std::to_string(value) + " is out of range");
    out.push_back(static_cast<T>(value));
  }
  return out;
}

// The same of a vector.
std::vector<std::int32_t> integer_vector(const nb::object& values, const char* name);

// Bytes that a Python object lends. Throws std::invalid_argument for memory that is not bytes one after the
// other, and Python's TypeError for what lends none.
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

// Lets Ctrl-C end a loop that has done so many steps; looks at every 1024th. The GIL may be held or not.
void allow_interrupt(std::size_t done);

// Forest.from_arrays.
std::shared_ptr<Forest> from_arrays(const nb::kwargs& arrays);
// Forest.with_features.
std::shared_ptr<Forest> with_features(const Forest& forest, const nb::object& features,
                                      const nb::object& names);

std::string join(const std::vector<std::string>& tokens, const char* separator = " ");

// What an object says of itself: Kind(name=value, ...), strings quoted as Python does.
using Facts = std::vector<std::pair<const char*, nb::object>>;
std::string described(const char* kind, const Facts& facts);
// Its picture for notebooks, or None.
nb::object picture(const nb::object& self);
nb::dict feature_dict(const Forest& forest, std::span<const EdgeIndex> edges);

}  // namespace hiero
