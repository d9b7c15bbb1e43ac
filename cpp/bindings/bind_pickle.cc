// Forests as bytes, and what Python's pickle and copy keep of objects.
#include "bind_forest.h"
#include "hiero/base/error.h"
#include "hiero/forest/record.h"

namespace hiero {
namespace {

nb::bytes record_of(const Forest& forest) {
  std::vector<std::byte> record;
  {
    const nb::gil_scoped_release release;
    record = write_record(forest);
  }
  return nb::bytes(record.data(), record.size());
}

Forest from_record(const nb::object& record, const nb::object& names) {
  const ByteView view(record);
  auto known = feature_names(names);
  const nb::gil_scoped_release release;
  return read_record(view.bytes(), std::move(known));
}

nb::tuple forest_state(const Forest& forest) {
  return nb::make_tuple(record_of(forest), forest.feature_names);
}

Forest forest_from(const nb::tuple& state) {
  if (state.size() != 2) throw ForestError("forest: expected a record and names of features");
  return from_record(state[0], state[1]);
}

nb::tuple derivation_state(const Derivation& derivation) {
  return nb::make_tuple(derivation.forest, derivation.score, as_array(derivation.edges));
}

Derivation derivation_from(const nb::tuple& state) {
  if (state.size() != 3) throw ForestError("derivation: expected a forest, a score and edges");
  Derivation out{nb::cast<std::shared_ptr<Forest>>(state[0]), nb::cast<double>(state[1]),
                 integers<EdgeIndex>(state[2], "edges")};
  if (out.edges.empty()) return out;
  const EdgeIndex first = out.edges.front();
  const bool known = first >= 0 && first < out.forest->graph->edge_count();
  check_derivation(*out.forest, known ? head_of(*out.forest, first) : -1, out.edges);
  return out;
}

}  // namespace

void register_pickle(nb::class_<Forest>& forest, nb::class_<Derivation>& derivation) {
  forest.def(pickle<nb::tuple>(&forest_state, &forest_from))
      .def("record", &record_of,
           "bytes: all of the forest but the names of its features, with a checksum; what archives hold and\n"
           "what pickles it.")
      .def_static("from_record", &from_record, nb::arg("record"), nb::arg("feature_names"),
                  "The forest of such bytes, or of a view of them. Raises ForestError for damaged ones.");
  derivation.def(pickle<nb::tuple>(&derivation_state, &derivation_from));
}

}  // namespace hiero
