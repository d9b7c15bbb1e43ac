#include "conversions.h"

#include <set>

#include "hiero/base/error.h"
#include "hiero/base/join_strings.h"
#include "hiero/forest/edge_values.h"

namespace hiero {
namespace {

// Messages list all features of a usual model, but not a million.
constexpr std::size_t kMostListed = 100;

[[noreturn]] void unknown_features(const nb::dict& weights, const FeatureNames& names) {
  std::set<std::string> unknown;
  for (const auto& entry : weights) {
    auto name = nb::cast<std::string>(nb::str(entry.first));
    if (names.find(name) == FeatureNames::kAbsent) unknown.insert(std::move(name));
  }
  const std::vector<std::string> listed(unknown.begin(), unknown.end());
  throw FormatError(
      "no such feature: " + join_strings(listed, ", ") + " (features: " +
      (names.size() <= kMostListed ? join_strings(names.list(), ", ") : std::to_string(names.size())) + ")");
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
    if (id == FeatureNames::kAbsent) unknown_features(weights, names);
    out[id] = static_cast<double>(nb::float_(weight));
  }
  return out;
}

bool is_mapping(const nb::object& object) {
  return nb::isinstance(object, nb::module_::import_("collections.abc").attr("Mapping"));
}

std::vector<double> edge_values(const Forest& forest, const nb::object& values) {
  const EdgeIndex edges = forest.graph->edge_count();
  if (is_mapping(values)) {
    if (edges == 0) return {};  // the forest of a sentence that failed has no features either
    const std::vector<double> weights = weight_vector(values, *forest.feature_names);
    const nb::gil_scoped_release release;
    return edge_scores(forest, weights);
  }
  const Array<double> array(values);
  if (array.ndim() != 1 || array.size() != edges) {
    throw std::invalid_argument("expected a value per edge, " + std::to_string(edges) + ", got an array of " +
                                std::to_string(array.size()));
  }
  return {array.values().begin(), array.values().end()};
}

FeatureValues feature_dict(const Forest& forest, std::span<const std::pair<std::int32_t, double>> features) {
  nb::dict out;
  for (const auto& [feature, value] : features) out[nb::cast((*forest.feature_names)[feature])] = value;
  return FeatureValues(out);
}

nb::object to_python(const BigUnsigned& number) {
  const auto digits = number.digits();
  const nb::bytes bytes(digits.data(), digits.size_bytes());
  return nb::module_::import_("builtins").attr("int").attr("from_bytes")(bytes, "little");
}

SparseMatrix csr_view(const FeatureRows& rows, std::size_t columns, const nb::handle& owner) {
  const nb::tuple parts =
      nb::make_tuple(view(rows.values, owner), view(rows.ids, owner), view(rows.offsets, owner));
  const nb::tuple shape = nb::make_tuple(rows.offsets.size() - 1, columns);
  return nb::object(nb::module_::import_("scipy.sparse")
                        .attr("csr_array")(parts, nb::arg("shape") = shape, nb::arg("copy") = false));
}

std::vector<std::int32_t> integer_vector(const nb::object& values, const char* name) {
  const nb::object array = numpy::ensure(values);
  if (!array || numpy::shape(array).size() != 1)
    throw std::invalid_argument(std::string(name) + ": expected a vector");
  return integers<std::int32_t>(array, name);
}

ByteView::ByteView(const nb::handle& object) {
  if (PyObject_GetBuffer(object.ptr(), &memory_, PyBUF_STRIDES) != 0) nb::raise_python_error();
  if (memory_.itemsize == 1 && memory_.ndim == 1 && (memory_.len == 0 || memory_.strides[0] == 1)) return;
  PyBuffer_Release(&memory_);
  throw std::invalid_argument("record: expected bytes");
}

std::string described(const char* kind, const Facts& facts) {
  std::string text = std::string(kind) + "(";
  for (const auto& [name, value] : facts) {
    if (text.back() != '(') text += ", ";
    text += std::string(name) + "=" + repr_of(value);
  }
  return text + ")";
}

nb::object picture(const nb::object& self) {
  return nb::module_::import_("hiero.pages.notebook").attr("picture")(self);
}

}  // namespace hiero
