// Python objects that signatures tell more about than `object`: the type is written as in a stub, and nothing
// checks it. hiero/_core.pyi has the same text, since it is generated from signatures.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hiero {

namespace nb = nanobind;

template <std::size_t size>
struct TypeText {
  char text[size]{};
  constexpr TypeText(const char (&type)[size]) { std::copy_n(type, size, text); }
};

template <TypeText annotation>
class Annotated : public nb::object {
 public:
  static constexpr auto Name = nb::detail::const_name(annotation.text);
  static bool check_(nb::handle) { return true; }

  Annotated(nb::object value) : nb::object(std::move(value)) {}
  Annotated(nb::handle value, nb::detail::borrow_t) : nb::object(value, nb::detail::borrow_t{}) {}
  Annotated(nb::handle value, nb::detail::steal_t) : nb::object(value, nb::detail::steal_t{}) {}
};

using Any = Annotated<"typing.Any">;
using ArrayLike = Annotated<"numpy.typing.ArrayLike">;
// A value for each edge of a forest: an array, or weights by feature name.
using EdgeValues = Annotated<"numpy.typing.ArrayLike | collections.abc.Mapping[str, float]">;
using WeightMapping = Annotated<"collections.abc.Mapping[str, float]">;
using MatrixLike = Annotated<"numpy.typing.ArrayLike | scipy.sparse.csr_array">;
using SparseMatrix = Annotated<"scipy.sparse.csr_array">;
using BinaryFile = Annotated<"typing.IO[bytes]">;
using Strings = Annotated<"collections.abc.Sequence[str]">;
using Counter = Annotated<"collections.abc.Callable[[int], object]">;
using Counters = Annotated<"collections.abc.Callable[[int, int], object]">;
using FeatureValues = Annotated<"dict[str, float]">;

}  // namespace hiero
