#include "bindings.h"
#include "hiero/base/exchange_paths.h"
#include "hiero/base/large_memory.h"

namespace hiero {

void register_files(nb::module_& m) {
  m.def("exchange", &exchange_paths, nb::arg("one"), nb::arg("other"),
        nb::call_guard<nb::gil_scoped_release>(),
        R"(Exchanges the names of two files or directories of one file system in one step.

Args:
    one: A path.
    other: Another path.

Raises:
    OSError: One of them does not exist, or, with errno ENOSYS, EINVAL or ENOTSUP, the file system or
        platform cannot exchange names. The error names the first path.)");
  m.def("return_freed_memory", &return_freed_memory, nb::call_guard<nb::gil_scoped_release>(),
        "Gives back to the system what the C library keeps of freed memory, where it can.");
}

}  // namespace hiero
