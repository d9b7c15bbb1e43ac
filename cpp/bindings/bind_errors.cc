// Exception types: hiero.Error, FormatError (also a ValueError) and ForestError. A FileError becomes the
// OSError subclass of its errno.
#include <cstring>

#include "bindings.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

PyObject* new_exception(nb::module_& m, const char* name, const char* doc, const nb::tuple& bases) {
  const std::string qualified = std::string("hiero.") + name;
  nb::object type = nb::steal(
      nb::detail::raise_if_null(PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr)));
  m.attr(name) = type;
  return type.release().ptr();  // exception types live as long as the interpreter
}

void raise_os_error(const FileError& error) {
  const nb::object os_error = nb::borrow(PyExc_OSError);
  const nb::object raised = os_error(error.code(), std::strerror(error.code()), error.path());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
}

}  // namespace

void register_errors(nb::module_& m) {
  static PyObject* const error_type = new_exception(m, "Error", "Base class of hiero's own errors.",
                                                    nb::make_tuple(nb::handle(PyExc_Exception)));
  static PyObject* const format_error_type = new_exception(
      m, "FormatError", "Malformed input; the message names the file and line, or the sentence and token.",
      nb::make_tuple(nb::handle(error_type), nb::handle(PyExc_ValueError)));
  static PyObject* const forest_error_type =
      new_exception(m, "ForestError", "Malformed forest, or one that is too large.",
                    nb::make_tuple(nb::handle(format_error_type)));
  nb::register_exception_translator([](const std::exception_ptr& pending, void*) {
    try {
      std::rethrow_exception(pending);
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
