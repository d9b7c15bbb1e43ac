#include "bind_local_features.h"

#include "bind_forest.h"

namespace hiero {
namespace {

class PythonLocalFeatures final : public LocalFeatures {
 public:
  explicit PythonLocalFeatures(const py::object& object) : object_(object), names_(names_of(object)) {}

  ~PythonLocalFeatures() override {
    const py::gil_scoped_acquire acquire;
    object_ = py::object();
  }

  const std::vector<std::string>& names() const override { return names_; }

  SparseRows compute(std::span<const std::string> tokens, const ApplicationBatch& batch) const override {
    const py::gil_scoped_acquire acquire;
    const py::object rows = object_(py::cast(std::vector<std::string>(tokens.begin(), tokens.end())),
                                    py::cast(batch));  // a copy: Python may keep it
    const py::tuple size = py::make_tuple(batch.size(), names_.size());
    const py::object csr = matrix(rows, size);
    if (!py::object(csr.attr("shape")).equal(size))
      refuse(size, "one of shape " + text_of(csr.attr("shape")));
    const py::array data = csr.attr("data");
    if (std::string_view("biuf").find(data.dtype().kind()) == std::string_view::npos)
      refuse(size, "one of " + text_of(data.dtype()));
    const DoubleVector values(data);
    const std::string name = described(*this);
    return {integers<std::int64_t>(csr.attr("indptr"), name.c_str()),
            integers<std::int32_t>(csr.attr("indices"), name.c_str()),
            {values.data(), values.data() + values.size()}};
  }

 private:
  static std::vector<std::string> names_of(const py::object& object) {
    const std::string kind = text_of(py::type::of(object).attr("__name__"));
    if (PyCallable_Check(object.ptr()) == 0 || !py::hasattr(object, "names"))
      throw py::type_error("local features: expected an object with names that can be called, not " + kind);
    const py::object names = object.attr("names");
    try {
      return names.cast<std::vector<std::string>>();
    } catch (const py::cast_error&) {
      throw py::type_error(kind + ".names: expected a list of names, not " +
                           py::repr(names).cast<std::string>());
    }
  }

  py::object matrix(const py::object& rows, const py::tuple& size) const {
    try {
      return py::module_::import("scipy.sparse").attr("csr_array")(rows);
    } catch (const py::error_already_set&) {
      refuse(size, "what scipy makes no matrix of: " + text_of(py::type::of(rows).attr("__name__")));
    }
  }

  static std::string text_of(const py::object& object) { return py::str(object).cast<std::string>(); }

  [[noreturn]] void refuse(const py::tuple& size, const std::string& found) const {
    throw std::invalid_argument(described(*this) + ": expected a matrix of numbers of shape " +
                                text_of(size) + ", rule applications by features, got " + found);
  }

  py::object object_;
  std::vector<std::string> names_;
};

}  // namespace

std::shared_ptr<const LocalFeatures> local_features_from_python(const py::object& object) {
  return std::make_shared<PythonLocalFeatures>(object);
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
