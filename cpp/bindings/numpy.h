// NumPy arrays, in and out.
//
//   Array<double> in a signature   a parameter that takes whatever NumPy converts to such an array
//   Array<double>(object)          converts an object, and raises NumPy's errors
//   Array<double>({3, 2})          a new array, for mutable_data() to fill
//   as_array(vector)               a new array with a copy of a vector
//   view(vector, owner)            a read-only array of a vector that the Python object `owner` holds; it
//                                  keeps the owner alive
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hiero {

namespace nb = nanobind;

using Shape = std::vector<Py_ssize_t>;

namespace numpy {

// The name of an array's dtype in signatures.
template <class T>
constexpr auto dtype() {
  using nb::detail::const_name;
  if constexpr (std::is_same_v<T, bool>)
    return const_name("numpy.bool_");
  else if constexpr (std::is_floating_point_v<T>)
    return const_name("numpy.float") + const_name<8 * sizeof(T)>();
  else if constexpr (std::is_unsigned_v<T>)
    return const_name("numpy.uint") + const_name<8 * sizeof(T)>();
  else
    return const_name("numpy.int") + const_name<8 * sizeof(T)>();
}

// A type as NumPy names it: "f8", "i4", "b1".
template <class T>
std::string type_name() {
  const char kind = std::is_same_v<T, bool>       ? 'b'
                    : std::is_floating_point_v<T> ? 'f'
                    : std::is_unsigned_v<T>       ? 'u'
                                                  : 'i';
  return kind + std::to_string(sizeof(T));
}

// Converts an object to a C-contiguous array of a type. Raises NumPy's errors.
nb::object converted(const nb::handle& values, const std::string& type);
// Converts an object to an array of any type; returns an invalid object where NumPy cannot.
nb::object ensure(const nb::handle& object);
nb::object empty(const Shape& shape, const std::string& type);

bool is_array(const nb::handle& object);
Shape shape(const nb::handle& array);
Py_ssize_t size(const nb::handle& array);
// The kind of an array's dtype: 'i', 'u', 'f', 'b', 'c', ...
char kind(const nb::handle& array);
// The first byte of a C-contiguous array.
void* data(const nb::handle& array);

}  // namespace numpy

template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(const Shape& shape) : Array(of(numpy::empty(shape, numpy::type_name<T>()))) {}
  explicit Array(const nb::object& values) : Array(of(numpy::converted(values, numpy::type_name<T>()))) {}

  // Wraps a C-contiguous array of this type.
  static Array of(nb::object array) {
    Array out;
    out.shape_ = numpy::shape(array);
    out.size_ = numpy::size(array);
    out.data_ = static_cast<T*>(numpy::data(array));
    out.object_ = std::move(array);
    return out;
  }

  const nb::object& object() const { return object_; }
  Py_ssize_t ndim() const { return static_cast<Py_ssize_t>(shape_.size()); }
  Py_ssize_t shape(std::size_t dimension) const { return shape_[dimension]; }
  Py_ssize_t size() const { return size_; }
  const T* data() const { return data_; }
  T* mutable_data() { return data_; }
  std::span<const T> values() const { return {data_, static_cast<std::size_t>(size_)}; }

 private:
  nb::object object_;
  Shape shape_;
  Py_ssize_t size_ = 0;
  T* data_ = nullptr;
};

template <class T>
Array<T> as_array(const std::vector<T>& values, const Shape& shape) {
  Array<T> array(shape);
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

template <class T>
Array<T> as_array(const std::vector<T>& values) {
  return as_array(values, {static_cast<Py_ssize_t>(values.size())});
}

// A read-only array of memory that a Python object owns.
template <class T>
class View : public nb::object {
 public:
  static constexpr auto Name =
      nb::detail::const_name("numpy.typing.NDArray[") + numpy::dtype<T>() + nb::detail::const_name("]");
  static bool check_(nb::handle) { return true; }

  explicit View(nb::object array) : nb::object(std::move(array)) {}
  View(nb::handle array, nb::detail::borrow_t) : nb::object(array, nb::detail::borrow_t{}) {}
  View(nb::handle array, nb::detail::steal_t) : nb::object(array, nb::detail::steal_t{}) {}
};

template <class T>
View<T> view(const std::vector<T>& values, const nb::handle& owner, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<Py_ssize_t>(values.size())};
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  nb::object array =
      nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), extents.size(), extents.data(), owner));
  // nanobind's are C's long long, which is not what NumPy calls int64 where long is as large.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    array = array.attr("view")(numpy::type_name<T>().c_str());
  return View<T>(std::move(array));
}

// Makes a property of a vector that an object of a class has as a member.
template <class Owner, class T>
auto view_of(std::vector<T> Owner::* member) {
  return [member](const nb::object& self) { return view(nb::cast<const Owner&>(self).*member, self); };
}

}  // namespace hiero

namespace nanobind::detail {

template <class T>
struct type_caster<hiero::Array<T>> {
  NB_TYPE_CASTER(hiero::Array<T>, const_name('@') + const_name("numpy.typing.ArrayLike") + const_name('@') +
                                      hiero::View<T>::Name + const_name('@'))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    try {
      value = hiero::Array<T>(borrow(source));
      return true;
    } catch (...) {  // nanobind raises a TypeError in place of NumPy's error
      return false;
    }
  }
  static handle from_cpp(const hiero::Array<T>& array, rv_policy, cleanup_list*) noexcept {
    return array.object().inc_ref();
  }
};

}  // namespace nanobind::detail
