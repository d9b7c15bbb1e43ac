// Forests as bytes, and the pickling of forests and derivations.
#include "bind_forest.h"
#include "conversions.h"
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

Forest from_record(const Annotated<"bytes | memoryview">& record, const Strings& names) {
  const ByteView view(record);
  auto shared_names = feature_names(names);
  const nb::gil_scoped_release release;
  return read_record(view.bytes(), std::move(shared_names));
}

nb::tuple forest_state(const Forest& forest) {
  return nb::make_tuple(record_of(forest), forest.feature_names);
}

Forest forest_from(const nb::tuple& state) {
  if (state.size() != 2) throw ForestError("forest: expected a record and names of features");
  return from_record(nb::object(state[0]), nb::object(state[1]));
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
  const bool exists = first >= 0 && first < out.forest->graph->edge_count();
  check_derivation(*out.forest, exists ? head_of(*out.forest, first) : -1, out.edges);
  return out;
}

}  // namespace

void register_pickle(nb::class_<Forest>& forest, nb::class_<Derivation>& derivation) {
  forest.def(pickle<nb::tuple>(&forest_state, &forest_from))
      .def("record", &record_of,
           "Returns the forest as bytes with a checksum, without the names of its features: the form in "
           "which\n"
           "archives and pickles hold forests.")
      .def_static("from_record", &from_record, nb::arg("record"), nb::arg("feature_names"),
                  R"(Reads a forest from the bytes that `record` returns.

Args:
    record: The bytes, or a view of them.
    feature_names: Names of the features.

Raises:
    ForestError: The bytes are damaged.)");
  derivation.def(pickle<nb::tuple>(&derivation_state, &derivation_from));
}

}  // namespace hiero
