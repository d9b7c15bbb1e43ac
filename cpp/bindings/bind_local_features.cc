#include "bind_local_features.h"

#include <string_view>

#include "conversions.h"
#include "hiero/decode/sentence.h"

namespace hiero {
namespace {

// A Python object that may be held, and destroyed, without Python's lock.
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

  static nb::object object_of(const Sentence& sentence) {
    const auto* annotations = dynamic_cast<const PythonAnnotations*>(sentence.annotations().get());
    return annotations ? annotations->held_.get() : nb::none();
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

// Throws the error of features that answer something other than `expected`, in which % stands for the shape.
[[noreturn]] void refuse(const std::vector<std::string>& names, const nb::tuple& shape,
                         const std::string& expected, const std::string& answer) {
  const std::size_t at = expected.find('%');
  throw std::invalid_argument(described(names) + ": expected " + expected.substr(0, at) + text_of(shape) +
                              expected.substr(at + 1) + ", got " + answer);
}

void check_numbers(const nb::object& values, const std::vector<std::string>& names, const nb::tuple& shape,
                   const char* what) {
  if (std::string_view("biuf").find(numpy::kind(values)) == std::string_view::npos)
    refuse(names, shape, what, "one of " + text_of(nb::object(values.attr("dtype"))));
}

// Converts a dense array, row by row, to sparse rows of so many columns.
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

// Converts the matrix, sparse or dense, that features answered with.
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

// Calls a method of features. An error that it raises is raised again as hiero.Error that names them.
template <class... Arguments>
nb::object call(const nb::object& features, const char* method, const std::vector<std::string>& names,
                const Arguments&... arguments) {
  try {
    return features.attr(method)(arguments...);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    const nb::object base = nb::module_::import_("hiero._core").attr("Error");
    std::string what = described(names) + ": ";
    if (!error.matches(base)) what += class_name(error.value()) + ": ";
    nb::raise_from(error, base, "%s", (what + text_of(error.value())).c_str());
  }
}

class PythonRuleFeatures final : public RuleFeatures {
 public:
  explicit PythonRuleFeatures(const nb::object& object) : held_(object), names_(names_in(object)) {}

  const std::vector<std::string>& names() const override { return names_; }

  SparseRows compute(const Sentence& sentence, const ApplicationBatch& batch) const override {
    const nb::gil_scoped_acquire acquire;
    // Python gets a copy of the batch, which it may keep.
    const nb::object rows =
        call(held_.get(), "by_rule", names_, PythonAnnotations::object_of(sentence), nb::cast(batch));
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
    const nb::object rows =
        call(held_.get(), "by_span", names_, PythonAnnotations::object_of(sentence), array);
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
  const nb::object answer = call(object, "by_gap", out.names);
  const nb::object array = numpy::ensure(answer);
  const nb::tuple shape = nb::make_tuple("sizes", 2, out.names.size());
  if (!array) refuse(out.names, shape, what, class_name(answer));
  check_numbers(array, out.names, shape, what);
  const auto columns = static_cast<Py_ssize_t>(out.names.size());
  const Shape extents = numpy::shape(array);
  if (extents.size() != 3 || extents[0] < 1 || extents[1] != 2 || extents[2] != columns)
    refuse(out.names, shape, what, "one of shape " + text_of(nb::object(array.attr("shape"))));
  out.sizes = static_cast<std::uint32_t>(extents[0]);
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
  define<Applications>(
      m, "Applications",
      R"(Rule applications: the rules of a source side and label, applied to a span and its gaps.)")
      .def("__len__", &Applications::size, "Returns the number n of applications.")
      .def_prop_ro("tables", view_of(&Applications::table), "Rule table of each application, int32 (n).")
      .def_prop_ro("labels", view_of(&Applications::label),
                   "Left-hand label of each application, uint32 (n): indices into the model's labels.")
      .def_prop_ro(
          "spans",
          [](const nb::object& self) {
            const auto& all = nb::cast<const Applications&>(self);
            return view(all.span, self, {static_cast<Py_ssize_t>(all.size()), 2});
          },
          "First source word of each application and the word past its last, int32 (n, 2).")
      .def_prop_ro(
          "gaps",
          [](const nb::object& self) {
            const auto& all = nb::cast<const Applications&>(self);
            return view(all.gaps, self, {static_cast<Py_ssize_t>(all.size()), all.arity, 2});
          },
          "Spans of the nonterminals in source order, int32 (n, g, 2), and -1 where there is none; g is 2,\n"
          "or more where a rule of the sentence has more nonterminals.");
  define<ApplicationBatch>(m, "ApplicationBatch",
                           "Rule applications with a row for each rule of each, the input of local features.")
      .def("__len__", &ApplicationBatch::size, "Returns the number of rows.")
      .def_ro("applications", &ApplicationBatch::applications, "The applications.")
      .def_prop_ro("application", view_of(&ApplicationBatch::application),
                   "Application of each row, uint32 (rows), ascending.")
      .def_prop_ro("rules", view_of(&ApplicationBatch::rule),
                   "Rule of each row, uint32 (rows): id in the application's table.")
      .def_prop_ro("reordered", view_of(&ApplicationBatch::reordered),
                   "Reordering flags of each row, uint8 (rows): bit i is set if nonterminal i is reordered.");
}

}  // namespace hiero
