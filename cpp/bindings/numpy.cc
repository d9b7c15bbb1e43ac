#include "numpy.h"

#include <nanobind/stl/string.h>

namespace hiero::numpy {
namespace {

nb::module_ module() { return nb::module_::import_("numpy"); }

}  // namespace

nb::object converted(const nb::handle& values, const std::string& type) {
  return module().attr("asarray")(values, type, "C");
}

nb::object ensure(const nb::handle& object) {
  try {
    return module().attr("asarray")(object);
  } catch (const nb::python_error&) {
    return {};
  }
}

nb::object empty(const Shape& shape, const std::string& type) {
  nb::list extents;
  for (const Py_ssize_t extent : shape) extents.append(extent);
  return module().attr("empty")(nb::tuple(extents), type);
}

bool is_array(const nb::handle& object) { return nb::isinstance(object, module().attr("ndarray")); }

Shape shape(const nb::handle& array) {
  Shape extents;
  for (const nb::handle extent : nb::tuple(array.attr("shape")))
    extents.push_back(nb::cast<Py_ssize_t>(extent));
  return extents;
}

Py_ssize_t size(const nb::handle& array) { return nb::cast<Py_ssize_t>(nb::object(array.attr("size"))); }

char kind(const nb::handle& array) {
  return *nb::cast<const char*>(nb::object(array.attr("dtype").attr("kind")));
}

void* data(const nb::handle& array) {
  Py_buffer memory;
  if (PyObject_GetBuffer(array.ptr(), &memory, PyBUF_C_CONTIGUOUS) != 0) nb::raise_python_error();
  void* const begin = memory.buf;
  PyBuffer_Release(&memory);  // which lends it; the array owns it
  return begin;
}

}  // namespace hiero::numpy
