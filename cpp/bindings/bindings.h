// One register function per concept; module.cc calls them in dependency order.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hiero {

namespace py = pybind11;

void register_errors(py::module_& m);
void register_interrupts();
void register_files(py::module_& m);
void register_settings(py::module_& m);
void register_grammar(py::module_& m);
void register_lm(py::module_& m);
void register_feature_names(py::module_& m);
void register_forest(py::module_& m);
void register_semiring(py::module_& m);
void register_oracle(py::module_& m);
void register_references(py::module_& m);
void register_tune(py::module_& m);
void register_local_features(py::module_& m);
void register_chart(py::module_& m);
void register_outside(py::module_& m);
void register_decode(py::module_& m);
void register_extract(py::module_& m);
void register_risk(py::module_& m);

// Indices and counts from Python, as signed numbers: where a parameter is unsigned, pybind11 says of a negative
// one that its type is wrong. Throws py::index_error for an index that there is not, std::invalid_argument for
// a negative count.
inline std::size_t index_of(py::ssize_t index, std::size_t size, const std::string& what) {
  if (index < 0 || static_cast<std::size_t>(index) >= size)
    throw py::index_error("no " + what + " " + std::to_string(index) + ", there are " + std::to_string(size));
  return static_cast<std::size_t>(index);
}

inline std::size_t count_of(py::ssize_t count, const std::string& name) {
  if (count < 0)
    throw std::invalid_argument(name + ": expected 0 or more, not " + std::to_string(count));
  return static_cast<std::size_t>(count);
}

// A read-only NumPy view of a vector that lives inside the Python object `owner`.
template <class T>
py::array_t<T> view(const std::vector<T>& values, const py::handle& owner,
                    std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(values.size())};
  py::array_t<T> array(shape, values.data(), owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// The same of a member of what a Python object holds, as a property.
template <class Owner, class T>
auto view_of(std::vector<T> Owner::*member) {
  return [member](const py::object& self) { return view(self.cast<const Owner&>().*member, self); };
}

}  // namespace hiero
