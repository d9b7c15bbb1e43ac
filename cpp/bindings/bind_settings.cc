#include "bind_settings.h"

namespace hiero {

void register_settings(nb::module_& m) {
  define<SettingInfo>(m, "Setting", "A setting of the core: its default and what it may be.")
      .def_ro("name", &SettingInfo::name)
      .def_ro("meaning", &SettingInfo::meaning)
      .def_ro("default", &SettingInfo::value)
      .def_ro("least", &SettingInfo::least, "Least value, or None.")
      .def_ro("most", &SettingInfo::most, "Greatest value, or None.")
      .def_ro("choices", &SettingInfo::choices, "Names of all values, if they are names.");
}

}  // namespace hiero
