// Exception types: hiero.Error, FormatError (also a ValueError), ForestError; FileError becomes the
// OSError subclass of its errno.
#include <cstring>

#include "bindings.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

PyObject* new_exception(py::module_& m, const char* name, const char* doc, const py::tuple& bases) {
  const std::string qualified = std::string("hiero.") + name;
  py::object type = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr));
  if (!type) throw py::error_already_set();
  m.add_object(name, type);
  return type.release().ptr();  // exception types live as long as the interpreter
}

void raise_os_error(const FileError& error) {
  const py::object os_error = py::reinterpret_borrow<py::object>(PyExc_OSError);
  const py::object raised = os_error(error.code(), std::strerror(error.code()), error.path());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
}

}  // namespace

void register_errors(py::module_& m) {
  static PyObject* const error_type =
      new_exception(m, "Error", "Any error of hiero.", py::make_tuple(py::handle(PyExc_Exception)));
  static PyObject* const format_error_type =
      new_exception(m, "FormatError", "Malformed input; the text names file and line, or sentence and token.",
                    py::make_tuple(py::handle(error_type), py::handle(PyExc_ValueError)));
  static PyObject* const forest_error_type =
      new_exception(m, "ForestError", "Malformed forest.", py::make_tuple(py::handle(format_error_type)));
  py::register_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending) std::rethrow_exception(pending);
    } catch (const ForestError& error) {
      PyErr_SetString(forest_error_type, error.what());
    } catch (const FormatError& error) {
      PyErr_SetString(format_error_type, error.what());
    } catch (const FileError& error) {
      raise_os_error(error);
    } catch (const Error& error) {
      PyErr_SetString(error_type, error.what());
    }
  });
}

}  // namespace hiero
