#include "bind_settings.h"

namespace hiero {

void register_settings(py::module_& m) {
  py::class_<SettingInfo>(m, "Setting", "A setting of the core: its default and what it may be.")
      .def_readonly("name", &SettingInfo::name)
      .def_readonly("meaning", &SettingInfo::meaning)
      .def_readonly("default", &SettingInfo::value)
      .def_readonly("least", &SettingInfo::least, "Least value, or None.")
      .def_readonly("most", &SettingInfo::most, "Greatest value, or None.")
      .def_readonly("choices", &SettingInfo::choices, "Names of all values, if they are names.");
}

}  // namespace hiero
