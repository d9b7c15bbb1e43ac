#include "bind_local_features.h"

#include <string_view>

#include "bind_forest.h"
#include "hiero/decode/sentence.h"

namespace hiero {
namespace {

// Held without the GIL, let go with it.
class HeldObject {
 public:
  explicit HeldObject(py::object object) : object_(std::move(object)) {}
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  ~HeldObject() {
    const py::gil_scoped_acquire acquire;
    object_ = py::object();
  }

  const py::object& get() const { return object_; }

 private:
  py::object object_;
};

class PythonAnnotations final : public Annotations {
 public:
  explicit PythonAnnotations(const py::object& sentence) : held_(sentence) {}

  static py::object of(const Sentence& sentence) {
    const auto* own = dynamic_cast<const PythonAnnotations*>(sentence.annotations().get());
    return own ? own->held_.get() : py::none();
  }

 private:
  HeldObject held_;
};

std::string text_of(const py::object& object) { return py::str(object).cast<std::string>(); }

std::vector<std::string> names_of(const py::object& object) {
  const py::object names = object.attr("names");
  try {
    return names.cast<std::vector<std::string>>();
  } catch (const py::cast_error&) {
    throw py::type_error(text_of(py::type::of(object).attr("__name__")) +
                         ".names: expected a list of names, not " + py::repr(names).cast<std::string>());
  }
}

// `what` was expected, with the shape in place of %.
[[noreturn]] void refuse(const std::vector<std::string>& names, const py::tuple& shape,
                         const std::string& what, const std::string& found) {
  const std::size_t at = what.find('%');
  throw std::invalid_argument(described(names) + ": expected " + what.substr(0, at) + text_of(shape) +
                              what.substr(at + 1) + ", got " + found);
}

void check_numbers(const py::array& values, const std::vector<std::string>& names, const py::tuple& shape,
                   const char* what) {
  if (std::string_view("biuf").find(values.dtype().kind()) == std::string_view::npos)
    refuse(names, shape, what, "one of " + text_of(values.dtype()));
}

// Rows of so many columns from an array that has them one behind the other.
SparseRows dense_rows(const py::array& array, py::ssize_t columns) {
  const DoubleVector values(array);
  SparseRows rows{{0}, {}, {}};
  for (py::ssize_t i = 0; i < values.size(); ++i) {
    if (const double value = values.data()[i]; value != 0) {
      rows.columns.push_back(static_cast<std::int32_t>(i % columns));
      rows.values.push_back(value);
    }
    if ((i + 1) % columns == 0) rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  return rows;
}

// The rows of a matrix, sparse or not, that features answered with.
SparseRows rows_of(const py::object& answer, std::size_t count, const std::vector<std::string>& names,
                   const char* what) {
  const py::tuple shape = py::make_tuple(count, names.size());
  if (py::isinstance<py::array>(answer) && py::object(answer.attr("shape")).equal(shape) && !names.empty()) {
    check_numbers(answer, names, shape, what);
    return dense_rows(answer, static_cast<py::ssize_t>(names.size()));
  }
  py::object csr;
  try {
    csr = py::module_::import("scipy.sparse").attr("csr_array")(answer);
  } catch (const py::error_already_set&) {
    refuse(names, shape, what,
           "what scipy makes no matrix of: " + text_of(py::type::of(answer).attr("__name__")));
  }
  if (!py::object(csr.attr("shape")).equal(shape))
    refuse(names, shape, what, "one of shape " + text_of(csr.attr("shape")));
  const py::array data = csr.attr("data");
  check_numbers(data, names, shape, what);
  const DoubleVector values(data);
  const std::string name = described(names);
  return {integers<std::int64_t>(csr.attr("indptr"), name.c_str()),
          integers<std::int32_t>(csr.attr("indices"), name.c_str()),
          {values.data(), values.data() + values.size()}};
}

// What the features answer. Those that raise are named.
template <class... Arguments>
py::object asked(const py::object& features, const char* method, const std::vector<std::string>& names,
                 const Arguments&... about) {
  try {
    return features.attr(method)(about...);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    const py::object own = py::module_::import("hiero._core").attr("Error");
    std::string what = described(names) + ": ";
    if (!error.matches(own)) what += text_of(error.type().attr("__name__")) + ": ";
    py::raise_from(error, own.ptr(), (what + text_of(error.value())).c_str());
    throw py::error_already_set();
  }
}

class PythonRuleFeatures final : public RuleFeatures {
 public:
  explicit PythonRuleFeatures(const py::object& object) : held_(object), names_(names_of(object)) {}

  const std::vector<std::string>& names() const override { return names_; }

  SparseRows compute(const Sentence& sentence, const ApplicationBatch& batch) const override {
    const py::gil_scoped_acquire acquire;
    // A copy of the batch: Python may keep it.
    const py::object rows =
        asked(held_.get(), "by_rule", names_, PythonAnnotations::of(sentence), py::cast(batch));
    return rows_of(rows, batch.size(), names_,
                   "a matrix of numbers of shape %, rules of applications by features");
  }

 private:
  HeldObject held_;
  std::vector<std::string> names_;
};

bool is_for_glue(const py::object& object) {
  return py::hasattr(object, "glue") && object.attr("glue").cast<bool>();
}

class PythonSpanFeatures final : public SpanFeatures {
 public:
  explicit PythonSpanFeatures(const py::object& object)
      : held_(object), names_(names_of(object)), goal_(is_for_glue(object)) {}

  const std::vector<std::string>& names() const override { return names_; }
  bool goal() const override { return goal_; }

  SparseRows compute(const Sentence& sentence, std::span<const std::int32_t> spans) const override {
    const py::gil_scoped_acquire acquire;
    const py::array_t<std::int32_t> array({static_cast<py::ssize_t>(spans.size() / 2), py::ssize_t{2}},
                                          spans.data());
    const py::object rows = asked(held_.get(), "by_span", names_, PythonAnnotations::of(sentence), array);
    return rows_of(rows, spans.size() / 2, names_, "a matrix of numbers of shape %, spans by features");
  }

 private:
  HeldObject held_;
  std::vector<std::string> names_;
  bool goal_;
};

GapFeatures gap_features_of(const py::object& object) {
  GapFeatures out;
  out.names = names_of(object);
  out.goal = is_for_glue(object);
  const char* const what = "an array of numbers of shape %, sizes by reordered by features";
  const py::object answer = asked(object, "by_gap", out.names);
  const py::array array = py::array::ensure(answer);
  const py::tuple shape = py::make_tuple("sizes", 2, out.names.size());
  if (!array) refuse(out.names, shape, what, text_of(py::type::of(answer).attr("__name__")));
  check_numbers(array, out.names, shape, what);
  const auto columns = static_cast<py::ssize_t>(out.names.size());
  if (array.ndim() != 3 || array.shape(0) < 1 || array.shape(1) != 2 || array.shape(2) != columns)
    refuse(out.names, shape, what, "one of shape " + text_of(array.attr("shape")));
  out.sizes = static_cast<std::uint32_t>(array.shape(0));
  out.rows = dense_rows(array, columns);
  check_rows(out.rows, 2 * std::size_t{out.sizes}, out.names);
  return out;
}

}  // namespace

void add_local_features(const py::object& object, ModelParts& parts) {
  const bool has_names = py::hasattr(object, "names");
  if (has_names && py::hasattr(object, "by_span")) {
    parts.span_features.push_back(std::make_shared<PythonSpanFeatures>(object));
  } else if (has_names && py::hasattr(object, "by_gap")) {
    parts.gap_features.push_back(std::make_shared<const GapFeatures>(gap_features_of(object)));
  } else if (has_names && py::hasattr(object, "by_rule")) {
    parts.rule_features.push_back(std::make_shared<PythonRuleFeatures>(object));
  } else {
    throw py::type_error(
        "local features: expected an object with names and one of by_rule, by_span and by_gap, not " +
        text_of(py::type::of(object).attr("__name__")));
  }
}

std::shared_ptr<const Annotations> annotations_of(const py::object& sentence) {
  return std::make_shared<PythonAnnotations>(sentence);
}

void register_local_features(py::module_& m) {
  py::class_<Applications>(m, "Applications",
                           "Rules of one source side and label on one span with one choice of gaps.")
      .def("__len__", &Applications::size)
      .def_property_readonly("tables", view_of(&Applications::table), "int32 (n): index of the rules' table.")
      .def_property_readonly("labels", view_of(&Applications::label),
                             "uint32 (n): left-hand label, an index into the model's labels.")
      .def_property_readonly(
          "spans",
          [](const py::object& self) {
            const auto& all = self.cast<const Applications&>();
            return view(all.span, self, {static_cast<py::ssize_t>(all.size()), 2});
          },
          "int32 (n, 2): first source word, past-the-end word.")
      .def_property_readonly(
          "gaps",
          [](const py::object& self) {
            const auto& all = self.cast<const Applications&>();
            return view(all.gaps, self, {static_cast<py::ssize_t>(all.size()), all.arity, 2});
          },
          "int32 (n, g, 2): spans of the nonterminals in source order, -1 where there is none; g is 2, or\n"
          "more where a rule of the sentence has more.");
  py::class_<ApplicationBatch>(m, "ApplicationBatch",
                               "What local features see: rule applications, and one row per rule of each.")
      .def("__len__", &ApplicationBatch::size)
      .def_readonly("applications", &ApplicationBatch::applications, "What the rules of each share.")
      .def_property_readonly("application", view_of(&ApplicationBatch::application),
                             "uint32 (rows): index into `applications`, ascending.")
      .def_property_readonly("rules", view_of(&ApplicationBatch::rule),
                             "uint32 (rows): rule id within the application's table.")
      .def_property_readonly("reordered", view_of(&ApplicationBatch::reordered),
                             "uint8 (rows): bit i is set if nonterminal i is reordered.");
}

}  // namespace hiero
