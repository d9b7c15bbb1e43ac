#include <nanobind/make_iterator.h>

#include <cinttypes>
#include <cstdio>

#include "conversions.h"

namespace hiero {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, number);
  return digits;
}

// Returns the id of an index, which counts from the end if it is negative.
std::size_t id_at(Py_ssize_t index, std::size_t size) {
  const auto count = static_cast<Py_ssize_t>(size);
  if (index < -count || index >= count) throw std::out_of_range("feature " + std::to_string(index));
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

Annotated<"tuple[str, ...]"> names_at(const FeatureNames& names, const nb::slice& slice) {
  auto [at, stop, step, length] = slice.compute(names.size());
  nb::list out;
  for (std::size_t i = 0; i < length; ++i, at += step) out.append(names[static_cast<std::size_t>(at)]);
  return nb::object(nb::tuple(out));
}

Array<std::int32_t> ids_of(const FeatureNames& names,
                           const Annotated<"collections.abc.Iterable[str]">& list) {
  std::vector<std::int32_t> ids;
  for (const nb::handle name : nb::iter(list)) {
    const std::uint32_t id = names.find(nb::cast<std::string>(nb::str(name)));
    if (id == FeatureNames::kAbsent) {
      nb::dict weights;
      weights[name] = 0.0;
      weight_vector(weights, names);  // throws
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return as_array(ids);
}

bool has_name(const FeatureNames& names, const nb::object& name) {
  return nb::isinstance<nb::str>(name) && names.find(nb::cast<std::string>(name)) != FeatureNames::kAbsent;
}

std::uint32_t id_of(const FeatureNames& names, const std::string& name) {
  const std::uint32_t id = names.find(name);
  if (id == FeatureNames::kAbsent) throw std::invalid_argument(name + " is no feature");
  return id;
}

bool has_same_names(const FeatureNames& names, const nb::object& other) {
  if (nb::isinstance<FeatureNames>(other)) return names == nb::cast<const FeatureNames&>(other);
  if (!nb::isinstance<nb::tuple>(other) && !nb::isinstance<nb::list>(other)) throw nb::next_overload();
  return nb::tuple(nb::cast(names.list())).equal(nb::tuple(other));
}

}  // namespace

void register_feature_names(nb::module_& m) {
  auto type = define<FeatureNames>(m, "FeatureNames", R"(Names of features in the order of their ids.

An immutable sequence of strings that finds the id of a name at once. A model, its forests and archives
of them share one.)",
                                   nb::sig("class FeatureNames(collections.abc.Sequence[str])"));
  type.def(
          "__init__",
          [](FeatureNames* self, const Strings& names) { new (self) FeatureNames(*feature_names(names)); },
          nb::arg("names").none(), R"(Numbers names in their order.

Raises:
    FormatError: A name is repeated.
    ValueError: `names` is no sequence of strings.)")
      .def("__len__", &FeatureNames::size, "Returns the number of features.")
      .def("__getitem__", [](const FeatureNames& n, Py_ssize_t i) { return n[id_at(i, n.size())]; })
      .def("__getitem__", &names_at)
      .def(
          "__iter__",
          [](const FeatureNames& n) {
            return nb::make_iterator(nb::type<FeatureNames>(), "_Iterator", n.list().begin(), n.list().end());
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"), nb::keep_alive<0, 1>())
      .def("__contains__", &has_name, nb::arg().none(),
           nb::sig("def __contains__(self, name: object, /) -> bool"))
      .def("index", &id_of, nb::arg("name"), nb::sig("def index(self, name: str) -> int"),
           R"(Returns the id of a name.

Raises:
    ValueError: There is no such feature.)")
      .def(
          "count",
          [](const FeatureNames& n, const std::string& name) { return has_name(n, nb::cast(name)) ? 1 : 0; },
          "Returns 1 for the name of a feature, else 0.")
      .def("ids", &ids_of, nb::arg("names"), R"(Returns the ids of names.

Returns:
    int32 (names).

Raises:
    FormatError: There is no such feature.)")
      .def(
          "vector",
          [](const FeatureNames& n, const WeightMapping& weights) {
            return as_array(weight_vector(weights, n));
          },
          nb::arg("weights").none(), R"(Returns weights as a vector by feature id.

Args:
    weights: Weights by name.

Returns:
    float64 (features), 0 for features without a weight.

Raises:
    FormatError: A weight names no feature.)")
      .def_prop_ro(
          "fingerprint", [](const FeatureNames& n) { return hexadecimal(n.fingerprint()); },
          "Fingerprint of the names in their order: 16 hexadecimal digits.")
      .def("__eq__", &has_same_names, nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"))
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
