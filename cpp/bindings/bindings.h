// Declares one function per binding file that adds its classes and functions to the module; module.cc calls
// them in the order in which types are needed.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/detail/nb_list.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "annotated.h"
#include "hiero/base/shard.h"
#include "numpy.h"

namespace hiero {

void register_errors(nb::module_& m);
void register_interrupts();
void register_files(nb::module_& m);
void register_settings(nb::module_& m);
void register_grammar(nb::module_& m);
void register_extract(nb::module_& m);
void register_extract_shards(nb::module_& m);
void register_corrections(nb::module_& m);
void register_align(nb::module_& m);
void register_problems(nb::module_& m);
void register_lm(nb::module_& m);
void register_feature_names(nb::module_& m);
void register_forest(nb::module_& m);
void register_semiring(nb::module_& m);
void register_references(nb::module_& m);
void register_oracle(nb::module_& m);
void register_local_features(nb::module_& m);
void register_chart(nb::module_& m);
void register_outside(nb::module_& m);
void register_translation(nb::module_& m);
void register_decode(nb::module_& m);
void register_tune(nb::module_& m);
void register_risk(nb::module_& m);

// Makes a Python class. Its objects take weak references, as those of classes written in Python do.
template <class T, class... Bases, class... Extra>
nb::class_<T, Bases...> define(nb::module_& m, const char* name, const Extra&... extra) {
  return {m, name, extra..., nb::is_weak_referenceable()};
}

// Returns a shard from its number, from 0, and the number of shards. Throws std::invalid_argument.
inline Shard shard_of(const std::pair<std::size_t, std::size_t>& numbers) {
  const Shard shard{numbers.first, numbers.second};
  shard.check();
  return shard;
}

// Returns a number of threads. Throws std::invalid_argument for less than 1. More than the machine could use
// would only take memory.
inline std::size_t thread_count(int threads) {
  if (threads < 1) throw std::invalid_argument("threads: expected 1 or more");
  constexpr int kMostThreads = 256;
  return static_cast<std::size_t>(std::min(threads, kMostThreads));
}

// Makes a class picklable and copyable: get(object) returns its State, and make(state) an object of it.
template <class State, class Get, class Make>
struct Pickle : nb::def_visitor<Pickle<State, Get, Make>> {
  Get get;
  Make make;

  Pickle(Get g, Make m) : get(std::move(g)), make(std::move(m)) {}

  template <class Class, class... Extra>
  void execute(Class& type, const Extra&...) {
    using T = typename Class::Type;
    type.def("__getstate__", get);
    type.def("__setstate__", [make = make](T* self, const State& state) { new (self) T(make(state)); });
  }
};
template <class State, class Get, class Make>
Pickle<State, Get, Make> pickle(Get get, Make make) {
  return {std::move(get), std::move(make)};
}

// Returns the result of __reduce__ for objects that cannot be moved: the static method `name` of their class
// makes one from `arguments`.
template <class... Arguments>
nb::object reduced(const nb::handle& self, const char* name, const Arguments&... arguments) {
  const nb::object method = nb::module_::import_("operator").attr("methodcaller")(name, arguments...);
  return nb::make_tuple(method, nb::make_tuple(self.type()));
}

// A flag that any Python object with a truth value is converted to; nanobind's bool takes True and False
// only.
struct Truth {
  bool value = false;
  operator bool() const { return value; }
};

inline nb::builtin_exception type_error(const std::string& text) { return nb::type_error(text.c_str()); }

inline std::string repr_of(const nb::handle& object) { return nb::cast<std::string>(nb::repr(object)); }

// Lets Python handle signals, such as Ctrl-C. Call it with Python's lock held.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

// Check indices and counts from Python, which are bound as signed numbers: for a negative argument of an
// unsigned parameter, nanobind would say that its type is wrong. Throw std::out_of_range for an index out of
// range, std::invalid_argument for a negative count.
inline std::size_t index_of(Py_ssize_t index, std::size_t size, const std::string& what) {
  if (index < 0 || static_cast<std::size_t>(index) >= size)
    throw std::out_of_range("no " + what + " " + std::to_string(index) + ", there are " +
                            std::to_string(size));
  return static_cast<std::size_t>(index);
}

inline std::size_t count_of(Py_ssize_t count, const std::string& name) {
  if (count < 0) throw std::invalid_argument(name + ": expected 0 or more, not " + std::to_string(count));
  return static_cast<std::size_t>(count);
}

}  // namespace hiero

namespace nanobind::detail {

// Takes any iterable but strings, where nanobind's caster takes sequences only.
template <class T>
struct type_caster<std::vector<T>> : list_caster<std::vector<T>, T> {
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    using Sequences = list_caster<std::vector<T>, T>;
    if (PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr())) return false;
    if (PySequence_Check(source.ptr()) || PyMapping_Check(source.ptr()))
      return Sequences::from_python(source, flags, cleanup);
    const object list = steal(PySequence_List(source.ptr()));
    if (!list) PyErr_Clear();
    return list && Sequences::from_python(list, flags, cleanup);
  }
};

template <>
struct type_caster<hiero::Truth> {
  NB_TYPE_CASTER(hiero::Truth, const_name("bool"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    const PyNumberMethods* const number = Py_TYPE(source.ptr())->tp_as_number;
    if (!number || !number->nb_bool) return false;
    const int truth = PyObject_IsTrue(source.ptr());
    if (truth < 0) PyErr_Clear();
    value.value = truth > 0;
    return truth >= 0;
  }
  static handle from_cpp(hiero::Truth truth, rv_policy, cleanup_list*) noexcept {
    return bool_(truth.value).release();
  }
};

}  // namespace nanobind::detail
