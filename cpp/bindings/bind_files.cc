#include "bindings.h"
#include "hiero/base/exchange_paths.h"

namespace hiero {

void register_files(nb::module_& m) {
  m.def(
      "exchange", &exchange_paths, nb::arg("one"), nb::arg("other"), nb::call_guard<nb::gil_scoped_release>(),
      "Exchanges what two paths name, files or directories of one file system, in one step. Raises OSError\n"
      "naming the first; with errno ENOSYS, EINVAL or ENOTSUP where the file system or platform cannot.");
}

}  // namespace hiero
