#include <nanobind/make_iterator.h>

#include <cinttypes>
#include <cstdio>
#include <set>

#include "bind_forest.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

// Messages name all features of a usual model, and not a million.
constexpr std::size_t kNamed = 100;

[[noreturn]] void unknown_feature(const nb::dict& given, const FeatureNames& names) {
  std::set<std::string> unknown;
  for (const auto& entry : given) {
    auto name = nb::cast<std::string>(nb::str(entry.first));
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

std::size_t place(Py_ssize_t index, std::size_t size) {
  const auto count = static_cast<Py_ssize_t>(size);
  if (index < -count || index >= count) throw std::out_of_range("feature " + std::to_string(index));
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

Array<std::int32_t> ids_of(const FeatureNames& names, const nb::iterable& given) {
  std::vector<std::int32_t> ids;
  for (const nb::handle name : given) {
    const std::uint32_t id = names.find(nb::cast<std::string>(nb::str(name)));
    if (id == FeatureNames::kAbsent) {
      nb::dict weights;
      weights[name] = 0.0;
      unknown_feature(weights, names);
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return as_array(ids);
}

}  // namespace

std::shared_ptr<const FeatureNames> feature_names(const nb::object& names) {
  if (nb::isinstance<FeatureNames>(names)) return nb::cast<std::shared_ptr<FeatureNames>>(names);
  std::vector<std::string> list;
  try {
    list = nb::cast<std::vector<std::string>>(names);
  } catch (const nb::cast_error&) {
    throw std::invalid_argument("expected a sequence of feature names, got " + repr_of(names));
  }
  auto out = std::make_shared<FeatureNames>();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (out->add(list[i]) != i) throw FormatError("feature " + list[i] + " stands there twice");
  }
  return out;
}

std::vector<double> weight_vector(const nb::object& mapping, const FeatureNames& names) {
  const auto weights = nb::borrow<nb::dict>(nb::handle(&PyDict_Type)(mapping));
  std::vector<double> out(names.size());
  for (const auto& [name, weight] : weights) {
    const std::uint32_t id = names.find(nb::cast<std::string>(nb::str(name)));
    if (id == FeatureNames::kAbsent) unknown_feature(weights, names);
    out[id] = static_cast<double>(nb::float_(weight));
  }
  return out;
}

void register_feature_names(nb::module_& m) {
  auto type = define<FeatureNames>(
      m, "FeatureNames",
      "Names of features in the order of their ids, which never changes: an immutable sequence of strings "
      "that\n"
      "finds the id of a name at once. A model, its forests and archives of them share one.");
  type.def(
          "__init__",
          [](FeatureNames* self, const nb::object& names) { new (self) FeatureNames(*feature_names(names)); },
          nb::arg("names").none())
      .def("__len__", &FeatureNames::size)
      .def("__getitem__", [](const FeatureNames& n, Py_ssize_t i) { return n[place(i, n.size())]; })
      .def("__getitem__",
           [](const FeatureNames& n, const nb::slice& slice) {
             auto [at, stop, step, length] = slice.compute(n.size());
             nb::list out;
             for (std::size_t i = 0; i < length; ++i, at += step) out.append(n[static_cast<std::size_t>(at)]);
             return nb::tuple(out);
           })
      .def(
          "__iter__",
          [](const FeatureNames& n) {
            return nb::make_iterator(nb::type<FeatureNames>(), "_Iterator", n.list().begin(), n.list().end());
          },
          nb::keep_alive<0, 1>())
      .def(
          "__contains__",
          [](const FeatureNames& n, const nb::object& name) {
            return nb::isinstance<nb::str>(name) &&
                   n.find(nb::cast<std::string>(name)) != FeatureNames::kAbsent;
          },
          nb::arg().none())
      .def(
          "index",
          [](const FeatureNames& n, const std::string& name) {
            const std::uint32_t id = n.find(name);
            if (id == FeatureNames::kAbsent) throw std::invalid_argument(name + " is no feature");
            return id;
          },
          nb::arg("name"), "The id of a name. Raises ValueError for one that is not there.")
      .def("count", [](const FeatureNames& n,
                       const std::string& name) { return n.find(name) == FeatureNames::kAbsent ? 0 : 1; })
      .def("ids", &ids_of, nb::arg("names"),
           "int32 (names): their ids. Raises FormatError for a name that is not there.")
      .def(
          "vector",
          [](const FeatureNames& n, const nb::object& weights) {
            return as_array(weight_vector(weights, n));
          },
          nb::arg("weights").none(),
          "float64 (features): the weights of a mapping by id, 0 for features without one. Raises "
          "FormatError\n"
          "for a weight that names no feature.")
      .def_prop_ro(
          "fingerprint", [](const FeatureNames& n) { return hexadecimal(n.fingerprint()); },
          "Of the names in their order: 16 hexadecimal digits.")
      .def(
          "__eq__", [](const FeatureNames& n, const FeatureNames& other) { return n == other; },
          nb::is_operator())
      .def(
          "__eq__",
          [](const FeatureNames& n, const nb::object& other) {
            if (!nb::isinstance<nb::tuple>(other) && !nb::isinstance<nb::list>(other))
              throw nb::next_overload();
            return nb::tuple(nb::cast(n.list())).equal(nb::tuple(other));
          },
          nb::is_operator())
      // A tuple of the same names is equal, so it has the same hash.
      .def("__hash__", [](const FeatureNames& n) { return nb::hash(nb::tuple(nb::cast(n.list()))); })
      .def(
          "__repr__",
          [](const FeatureNames& n) { return described("FeatureNames", {{"features", nb::int_(n.size())}}); })
      .def(pickle<nb::tuple>([](const FeatureNames& n) { return nb::tuple(nb::cast(n.list())); },
                             [](const nb::tuple& names) { return *feature_names(names); }));
  nb::module_::import_("collections.abc").attr("Sequence").attr("register")(type);
}

}  // namespace hiero
