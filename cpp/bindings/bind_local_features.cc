#include "bind_local_features.h"

#include <string_view>

#include "bind_forest.h"
#include "hiero/decode/sentence.h"

namespace hiero {
namespace {

// Held without the GIL, let go with it.
class HeldObject {
 public:
  explicit HeldObject(nb::object object) : object_(std::move(object)) {}
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  ~HeldObject() {
    const nb::gil_scoped_acquire acquire;
    object_.reset();
  }

  const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

class PythonAnnotations final : public Annotations {
 public:
  explicit PythonAnnotations(const nb::object& sentence) : held_(sentence) {}

  static nb::object of(const Sentence& sentence) {
    const auto* own = dynamic_cast<const PythonAnnotations*>(sentence.annotations().get());
    return own ? own->held_.get() : nb::none();
  }

 private:
  HeldObject held_;
};

std::string text_of(const nb::handle& object) { return nb::cast<std::string>(nb::str(object)); }

std::string class_name(const nb::handle& object) {
  return text_of(nb::object(object.type().attr("__name__")));
}

std::vector<std::string> names_in(const nb::object& object) {
  const nb::object names = object.attr("names");
  try {
    return nb::cast<std::vector<std::string>>(names);
  } catch (const nb::cast_error&) {
    throw type_error(class_name(object) + ".names: expected a list of names, not " + repr_of(names));
  }
}

// `what` was expected, with the shape in place of %.
[[noreturn]] void refuse(const std::vector<std::string>& names, const nb::tuple& shape,
                         const std::string& what, const std::string& found) {
  const std::size_t at = what.find('%');
  throw std::invalid_argument(described(names) + ": expected " + what.substr(0, at) + text_of(shape) +
                              what.substr(at + 1) + ", got " + found);
}

void check_numbers(const nb::object& values, const std::vector<std::string>& names, const nb::tuple& shape,
                   const char* what) {
  if (std::string_view("biuf").find(numpy::kind(values)) == std::string_view::npos)
    refuse(names, shape, what, "one of " + text_of(nb::object(values.attr("dtype"))));
}

// Rows of so many columns from an array that has them one behind the other.
SparseRows dense_rows(const nb::object& array, Py_ssize_t columns) {
  const Array<double> values(array);
  SparseRows rows{{0}, {}, {}};
  for (Py_ssize_t i = 0; i < values.size(); ++i) {
    if (const double value = values.data()[i]; value != 0) {
      rows.columns.push_back(static_cast<std::int32_t>(i % columns));
      rows.values.push_back(value);
    }
    if ((i + 1) % columns == 0) rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  return rows;
}

// The rows of a matrix, sparse or not, that features answered with.
SparseRows rows_of(const nb::object& answer, std::size_t count, const std::vector<std::string>& names,
                   const char* what) {
  const nb::tuple shape = nb::make_tuple(count, names.size());
  if (numpy::is_array(answer) && answer.attr("shape").equal(shape) && !names.empty()) {
    check_numbers(answer, names, shape, what);
    return dense_rows(answer, static_cast<Py_ssize_t>(names.size()));
  }
  nb::object csr;
  try {
    csr = nb::module_::import_("scipy.sparse").attr("csr_array")(answer);
  } catch (const nb::python_error&) {
    refuse(names, shape, what, "what scipy makes no matrix of: " + class_name(answer));
  }
  if (!csr.attr("shape").equal(shape))
    refuse(names, shape, what, "one of shape " + text_of(nb::object(csr.attr("shape"))));
  const nb::object data = csr.attr("data");
  check_numbers(data, names, shape, what);
  const Array<double> values(data);
  const std::string name = described(names);
  return {integers<std::int64_t>(csr.attr("indptr"), name.c_str()),
          integers<std::int32_t>(csr.attr("indices"), name.c_str()),
          {values.values().begin(), values.values().end()}};
}

// What the features answer. Those that raise are named.
template <class... Arguments>
nb::object asked(const nb::object& features, const char* method, const std::vector<std::string>& names,
                 const Arguments&... about) {
  try {
    return features.attr(method)(about...);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    const nb::object own = nb::module_::import_("hiero._core").attr("Error");
    std::string what = described(names) + ": ";
    if (!error.matches(own)) what += class_name(error.value()) + ": ";
    nb::raise_from(error, own, "%s", (what + text_of(error.value())).c_str());
  }
}

class PythonRuleFeatures final : public RuleFeatures {
 public:
  explicit PythonRuleFeatures(const nb::object& object) : held_(object), names_(names_in(object)) {}

  const std::vector<std::string>& names() const override { return names_; }

  SparseRows compute(const Sentence& sentence, const ApplicationBatch& batch) const override {
    const nb::gil_scoped_acquire acquire;
    // A copy of the batch: Python may keep it.
    const nb::object rows =
        asked(held_.get(), "by_rule", names_, PythonAnnotations::of(sentence), nb::cast(batch));
    return rows_of(rows, batch.size(), names_,
                   "a matrix of numbers of shape %, rules of applications by features");
  }

 private:
  HeldObject held_;
  std::vector<std::string> names_;
};

bool is_for_glue(const nb::object& object) {
  return nb::hasattr(object, "glue") && nb::cast<Truth>(object.attr("glue"));
}

class PythonSpanFeatures final : public SpanFeatures {
 public:
  explicit PythonSpanFeatures(const nb::object& object)
      : held_(object), names_(names_in(object)), goal_(is_for_glue(object)) {}

  const std::vector<std::string>& names() const override { return names_; }
  bool goal() const override { return goal_; }

  SparseRows compute(const Sentence& sentence, std::span<const std::int32_t> spans) const override {
    const nb::gil_scoped_acquire acquire;
    Array<std::int32_t> array(Shape{static_cast<Py_ssize_t>(spans.size() / 2), 2});
    std::copy(spans.begin(), spans.end(), array.mutable_data());
    const nb::object rows = asked(held_.get(), "by_span", names_, PythonAnnotations::of(sentence), array);
    return rows_of(rows, spans.size() / 2, names_, "a matrix of numbers of shape %, spans by features");
  }

 private:
  HeldObject held_;
  std::vector<std::string> names_;
  bool goal_;
};

GapFeatures gap_features_of(const nb::object& object) {
  GapFeatures out;
  out.names = names_in(object);
  out.goal = is_for_glue(object);
  const char* const what = "an array of numbers of shape %, sizes by reordered by features";
  const nb::object answer = asked(object, "by_gap", out.names);
  const nb::object array = numpy::ensure(answer);
  const nb::tuple shape = nb::make_tuple("sizes", 2, out.names.size());
  if (!array) refuse(out.names, shape, what, class_name(answer));
  check_numbers(array, out.names, shape, what);
  const auto columns = static_cast<Py_ssize_t>(out.names.size());
  const Shape found = numpy::shape(array);
  if (found.size() != 3 || found[0] < 1 || found[1] != 2 || found[2] != columns)
    refuse(out.names, shape, what, "one of shape " + text_of(nb::object(array.attr("shape"))));
  out.sizes = static_cast<std::uint32_t>(found[0]);
  out.rows = dense_rows(array, columns);
  check_rows(out.rows, 2 * std::size_t{out.sizes}, out.names);
  return out;
}

}  // namespace

void add_local_features(const nb::object& object, ModelParts& parts) {
  const bool has_names = nb::hasattr(object, "names");
  if (has_names && nb::hasattr(object, "by_span")) {
    parts.span_features.push_back(std::make_shared<PythonSpanFeatures>(object));
  } else if (has_names && nb::hasattr(object, "by_gap")) {
    parts.gap_features.push_back(std::make_shared<const GapFeatures>(gap_features_of(object)));
  } else if (has_names && nb::hasattr(object, "by_rule")) {
    parts.rule_features.push_back(std::make_shared<PythonRuleFeatures>(object));
  } else {
    throw type_error(
        "local features: expected an object with names and one of by_rule, by_span and by_gap, not " +
        class_name(object));
  }
}

std::shared_ptr<const Annotations> annotations_of(const nb::object& sentence) {
  return std::make_shared<PythonAnnotations>(sentence);
}

void register_local_features(nb::module_& m) {
  define<Applications>(m, "Applications",
                       "Rules of one source side and label on one span with one choice of gaps.")
      .def("__len__", &Applications::size)
      .def_prop_ro("tables", view_of(&Applications::table), "int32 (n): index of the rules' table.")
      .def_prop_ro("labels", view_of(&Applications::label),
                   "uint32 (n): left-hand label, an index into the model's labels.")
      .def_prop_ro(
          "spans",
          [](const nb::object& self) {
            const auto& all = nb::cast<const Applications&>(self);
            return view(all.span, self, {static_cast<Py_ssize_t>(all.size()), 2});
          },
          "int32 (n, 2): first source word, past-the-end word.")
      .def_prop_ro(
          "gaps",
          [](const nb::object& self) {
            const auto& all = nb::cast<const Applications&>(self);
            return view(all.gaps, self, {static_cast<Py_ssize_t>(all.size()), all.arity, 2});
          },
          "int32 (n, g, 2): spans of the nonterminals in source order, -1 where there is none; g is 2, or\n"
          "more where a rule of the sentence has more.");
  define<ApplicationBatch>(m, "ApplicationBatch",
                           "What local features see: rule applications, and one row per rule of each.")
      .def("__len__", &ApplicationBatch::size)
      .def_ro("applications", &ApplicationBatch::applications, "What the rules of each share.")
      .def_prop_ro("application", view_of(&ApplicationBatch::application),
                   "uint32 (rows): index into `applications`, ascending.")
      .def_prop_ro("rules", view_of(&ApplicationBatch::rule),
                   "uint32 (rows): rule id within the application's table.")
      .def_prop_ro("reordered", view_of(&ApplicationBatch::reordered),
                   "uint8 (rows): bit i is set if nonterminal i is reordered.");
}

}  // namespace hiero
