#include "bind_local_features.h"

#include "bind_forest.h"

namespace hiero {
namespace {

class PythonLocalFeatures final : public LocalFeatures {
 public:
  explicit PythonLocalFeatures(const py::object& object)
      : object_(object), names_(object.attr("names").cast<std::vector<std::string>>()) {}

  ~PythonLocalFeatures() override {
    const py::gil_scoped_acquire acquire;
    object_ = py::object();
  }

  const std::vector<std::string>& names() const override { return names_; }

  SparseRows compute(std::span<const std::string> tokens, const ApplicationBatch& batch) const override {
    const py::gil_scoped_acquire acquire;
    const py::object rows = object_(py::cast(std::vector<std::string>(tokens.begin(), tokens.end())),
                                    py::cast(batch));  // a copy: Python may keep it
    const py::object csr = py::module_::import("scipy.sparse").attr("csr_array")(rows);
    const auto shape = csr.attr("shape").cast<std::pair<std::size_t, std::size_t>>();
    if (shape.first != batch.size() || shape.second != names_.size()) {
      throw std::invalid_argument("local features: expected a matrix of " + std::to_string(batch.size()) +
                                  " x " + std::to_string(names_.size()) + ", got " +
                                  std::to_string(shape.first) + " x " + std::to_string(shape.second));
    }
    const py::array data = csr.attr("data");
    if (data.dtype().kind() == 'c') throw std::invalid_argument("local features: expected real numbers");
    const DoubleVector values(data);
    return {integers<std::int64_t>(csr.attr("indptr"), "local features"),
            integers<std::int32_t>(csr.attr("indices"), "local features"),
            {values.data(), values.data() + values.size()}};
  }

 private:
  py::object object_;
  std::vector<std::string> names_;
};

}  // namespace

std::shared_ptr<const LocalFeatures> local_features_from_python(const py::object& object) {
  return std::make_shared<PythonLocalFeatures>(object);
}

void register_local_features(py::module_& m) {
  py::class_<ApplicationBatch>(m, "ApplicationBatch",
                               "What local features see: one row per rule application and rule.")
      .def("__len__", &ApplicationBatch::size)
      .def_property_readonly("tables", view_of(&ApplicationBatch::table),
                             "int32 (rows): index of the rule's table.")
      .def_property_readonly("rules", view_of(&ApplicationBatch::rule),
                             "uint32 (rows): rule id within its table.")
      .def_property_readonly("labels", view_of(&ApplicationBatch::label),
                             "uint32 (rows): left-hand label, an index into the model's labels.")
      .def_property_readonly(
          "spans",
          [](const py::object& self) {
            const auto& batch = self.cast<const ApplicationBatch&>();
            return view(batch.span, self, {static_cast<py::ssize_t>(batch.size()), 2});
          },
          "int32 (rows, 2): first source word, past-the-end word.")
      .def_property_readonly(
          "gaps",
          [](const py::object& self) {
            const auto& batch = self.cast<const ApplicationBatch&>();
            return view(batch.gaps, self, {static_cast<py::ssize_t>(batch.size()), batch.arity, 2});
          },
          "int32 (rows, n, 2): spans of the nonterminals in source order, -1 where there is none; n is 2,\n"
          "or more where a rule of the sentence has more.")
      .def_property_readonly("reordered", view_of(&ApplicationBatch::reordered),
                             "uint8 (rows): bit i is set if nonterminal i is reordered.");
}

}  // namespace hiero
