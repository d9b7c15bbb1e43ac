// NumPy arrays, in and out.
//
//   Array<double> in a signature   takes whatever NumPy makes such an array of
//   Array<double>(object)          the same, and raises what NumPy raises
//   Array<double>({3, 2})          a new array, for mutable_data() to fill
//   as_array(vector)               a new array of a vector's numbers
//   view(vector, owner)            what belongs to a Python object, read-only; it keeps the object alive
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace hiero {

namespace nb = nanobind;

using Shape = std::vector<Py_ssize_t>;

namespace numpy {

// A type as NumPy names it: "f8", "i4", "b1".
template <class T>
std::string type_name() {
  const char kind = std::is_same_v<T, bool>       ? 'b'
                    : std::is_floating_point_v<T> ? 'f'
                    : std::is_unsigned_v<T>       ? 'u'
                                                  : 'i';
  return kind + std::to_string(sizeof(T));
}

// An array of an object's values, of a type and one row behind the other. Raises what NumPy raises.
nb::object converted(const nb::handle& values, const std::string& type);
// An array of whatever type; an invalid object where NumPy makes none.
nb::object ensure(const nb::handle& object);
nb::object empty(const Shape& shape, const std::string& type);

bool is_array(const nb::handle& object);
Shape shape(const nb::handle& array);
Py_ssize_t size(const nb::handle& array);
// 'i', 'u', 'f', 'b', 'c', ...: what numbers an array holds.
char kind(const nb::handle& array);
// Where an array's values begin, one row behind the other.
void* data(const nb::handle& array);

}  // namespace numpy

template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(const Shape& shape) : Array(of(numpy::empty(shape, numpy::type_name<T>()))) {}
  explicit Array(const nb::object& values) : Array(of(numpy::converted(values, numpy::type_name<T>()))) {}

  // Of an array that is of this type.
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

template <class T>
nb::object view(const std::vector<T>& values, const nb::handle& owner, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<Py_ssize_t>(values.size())};
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  nb::object array =
      nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), extents.size(), extents.data(), owner));
  // nanobind's are C's long long, which is not what NumPy calls int64 where long is as large.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    array = array.attr("view")(numpy::type_name<T>().c_str());
  return array;
}

// The same of a member of what a Python object holds, as a property.
template <class Owner, class T>
auto view_of(std::vector<T> Owner::* member) {
  return [member](const nb::object& self) { return view(nb::cast<const Owner&>(self).*member, self); };
}

}  // namespace hiero

namespace nanobind::detail {

template <class T>
struct type_caster<hiero::Array<T>> {
  NB_TYPE_CASTER(hiero::Array<T>, const_name("numpy.ndarray"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    try {
      value = hiero::Array<T>(borrow(source));
      return true;
    } catch (...) {  // what NumPy said of it goes: nanobind says that the argument is of another type
      return false;
    }
  }
  static handle from_cpp(const hiero::Array<T>& array, rv_policy, cleanup_list*) noexcept {
    return array.object().inc_ref();
  }
};

}  // namespace nanobind::detail
