#include <cinttypes>
#include <cstdio>
#include <set>

#include "bind_forest.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

// Messages name all features of a usual model, and not a million.
constexpr std::size_t kNamed = 100;

[[noreturn]] void unknown_feature(const py::dict& given, const FeatureNames& names) {
  std::set<std::string> unknown;
  for (const auto& entry : given) {
    std::string name = py::str(entry.first);
    if (names.find(name) == FeatureNames::kAbsent) unknown.insert(std::move(name));
  }
  throw FormatError("no such feature: " + join({unknown.begin(), unknown.end()}, ", ") + " (features: " +
                    (names.size() <= kNamed ? join(names.list(), ", ") : std::to_string(names.size())) + ")");
}

std::string hexadecimal(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, number);
  return digits;
}

std::size_t place(py::ssize_t index, std::size_t size) {
  const auto count = static_cast<py::ssize_t>(size);
  if (index < -count || index >= count) throw py::index_error("feature " + std::to_string(index));
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

py::array_t<std::int32_t> ids_of(const FeatureNames& names, const py::iterable& given) {
  std::vector<std::int32_t> ids;
  for (const py::handle name : given) {
    const std::uint32_t id = names.find(py::str(name));
    if (id == FeatureNames::kAbsent) {
      py::dict weights;
      weights[name] = 0.0;
      unknown_feature(weights, names);
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return as_array(ids);
}

}  // namespace

std::shared_ptr<const FeatureNames> feature_names(const py::object& names) {
  if (py::isinstance<FeatureNames>(names)) return names.cast<std::shared_ptr<FeatureNames>>();
  std::vector<std::string> list;
  try {
    list = names.cast<std::vector<std::string>>();
  } catch (const py::cast_error&) {
    throw std::invalid_argument("expected a sequence of feature names, got " +
                                py::repr(names).cast<std::string>());
  }
  auto out = std::make_shared<FeatureNames>();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (out->add(list[i]) != i) throw FormatError("feature " + list[i] + " stands there twice");
  }
  return out;
}

std::vector<double> weight_vector(const py::dict& weights, const FeatureNames& names) {
  std::vector<double> out(names.size());
  for (const auto& [name, weight] : weights) {
    const std::uint32_t id = names.find(py::str(name));
    if (id == FeatureNames::kAbsent) unknown_feature(weights, names);
    out[id] = py::float_(py::reinterpret_borrow<py::object>(weight));
  }
  return out;
}

void register_feature_names(py::module_& m) {
  py::class_<FeatureNames, std::shared_ptr<FeatureNames>> type(
      m, "FeatureNames",
      "Names of features in the order of their ids, which never changes: an immutable sequence of strings "
      "that\n"
      "finds the id of a name at once. A model, its forests and archives of them share one.");
  type.def(py::init([](const py::object& names) {
             return std::const_pointer_cast<FeatureNames>(feature_names(names));
           }),
           py::arg("names"))
      .def("__len__", &FeatureNames::size)
      .def("__getitem__", [](const FeatureNames& n, py::ssize_t i) { return n[place(i, n.size())]; })
      .def("__getitem__",
           [](const FeatureNames& n, const py::slice& slice) {
             std::size_t start = 0, stop = 0, step = 0, length = 0;
             if (!slice.compute(n.size(), &start, &stop, &step, &length)) throw py::error_already_set();
             py::tuple out(length);
             for (std::size_t i = 0; i < length; ++i, start += step) out[i] = py::str(n[start]);
             return out;
           })
      .def(
          "__iter__",
          [](const FeatureNames& n) { return py::make_iterator(n.list().begin(), n.list().end()); },
          py::keep_alive<0, 1>())
      .def("__contains__",
           [](const FeatureNames& n, const py::object& name) {
             return py::isinstance<py::str>(name) &&
                    n.find(name.cast<std::string>()) != FeatureNames::kAbsent;
           })
      .def(
          "index",
          [](const FeatureNames& n, const std::string& name) {
            const std::uint32_t id = n.find(name);
            if (id == FeatureNames::kAbsent) throw py::value_error(name + " is no feature");
            return id;
          },
          py::arg("name"), "The id of a name. Raises ValueError for one that is not there.")
      .def("count", [](const FeatureNames& n,
                       const std::string& name) { return n.find(name) == FeatureNames::kAbsent ? 0 : 1; })
      .def("ids", &ids_of, py::arg("names"),
           "int32 (names): their ids. Raises FormatError for a name that is not there.")
      .def(
          "vector",
          [](const FeatureNames& n, const py::object& weights) {
            return as_array(weight_vector(py::dict(weights), n));
          },
          py::arg("weights"),
          "float64 (features): the weights of a mapping by id, 0 for features without one. Raises "
          "FormatError\n"
          "for a weight that names no feature.")
      .def_property_readonly(
          "fingerprint", [](const FeatureNames& n) { return hexadecimal(n.fingerprint()); },
          "Of the names in their order: 16 hexadecimal digits.")
      .def("__eq__",
           [](const FeatureNames& n, const py::object& other) -> py::object {
             if (py::isinstance<FeatureNames>(other))
               return py::bool_(n == other.cast<const FeatureNames&>());
             if (!py::isinstance<py::tuple>(other) && !py::isinstance<py::list>(other))
               return py::reinterpret_borrow<py::object>(Py_NotImplemented);
             return py::tuple(py::cast(n.list())).equal(py::tuple(other)) ? py::bool_(true)
                                                                          : py::bool_(false);
           })
      // A tuple of the same names is equal, so it has the same hash.
      .def("__hash__", [](const FeatureNames& n) { return py::hash(py::tuple(py::cast(n.list()))); })
      .def(
          "__repr__",
          [](const FeatureNames& n) { return described("FeatureNames", {{"features", py::int_(n.size())}}); })
      .def(py::pickle([](const FeatureNames& n) { return py::tuple(py::cast(n.list())); },
                      [](const py::tuple& names) {
                        return std::const_pointer_cast<FeatureNames>(feature_names(names));
                      }));
  py::module_::import("collections.abc").attr("Sequence").attr("register")(type);
}

}  // namespace hiero
