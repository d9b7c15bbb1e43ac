// Forests as bytes, and what Python's pickle and copy keep of objects.
#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/record.h"

namespace hiero {
namespace {

py::bytes record_of(const Forest& forest) {
  std::vector<std::byte> record;
  {
    const py::gil_scoped_release release;
    record = write_record(forest);
  }
  return {reinterpret_cast<const char*>(record.data()), record.size()};
}

std::shared_ptr<Forest> from_record(const py::buffer& record, const py::object& names) {
  const py::buffer_info bytes = record.request();
  check_bytes(bytes);
  auto known = feature_names(names);
  const py::gil_scoped_release release;
  const auto* const begin = static_cast<const std::byte*>(bytes.ptr);
  return std::make_shared<Forest>(
      read_record({begin, static_cast<std::size_t>(bytes.shape[0])}, std::move(known)));
}

py::tuple forest_state(const Forest& forest) {
  return py::make_tuple(record_of(forest), std::const_pointer_cast<FeatureNames>(forest.feature_names));
}

std::shared_ptr<Forest> forest_from(const py::tuple& state) {
  if (state.size() != 2) throw ForestError("forest: expected a record and names of features");
  return from_record(state[0].cast<py::bytes>(), state[1]);
}

py::tuple derivation_state(const Derivation& derivation) {
  return py::make_tuple(std::const_pointer_cast<Forest>(derivation.forest), derivation.score,
                        as_array(derivation.edges));
}

Derivation derivation_from(const py::tuple& state) {
  if (state.size() != 3) throw ForestError("derivation: expected a forest, a score and edges");
  Derivation out{state[0].cast<std::shared_ptr<Forest>>(), state[1].cast<double>(),
                 integers<EdgeIndex>(state[2], "edges")};
  if (out.edges.empty()) return out;
  const EdgeIndex first = out.edges.front();
  const bool known = first >= 0 && first < out.forest->graph->edge_count();
  check_derivation(*out.forest, known ? head_of(*out.forest, first) : -1, out.edges);
  return out;
}

}  // namespace

void register_pickle(py::class_<Forest, std::shared_ptr<Forest>>& forest,
                     py::class_<Derivation>& derivation) {
  forest.def(py::pickle(&forest_state, &forest_from))
      .def("record", &record_of,
           "bytes: all of the forest but the names of its features, with a checksum; what archives hold and\n"
           "what pickles it.")
      .def_static("from_record", &from_record, py::arg("record"), py::arg("feature_names"),
                  "The forest of such bytes, or of a view of them. Raises ForestError for damaged ones.");
  derivation.def(py::pickle(&derivation_state, &derivation_from));
}

}  // namespace hiero
