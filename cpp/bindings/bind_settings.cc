#include "bind_settings.h"

namespace hiero {

void register_settings(nb::module_& m) {
  define<SettingInfo>(m, "Setting", "A setting of the core: its default and its limits.")
      .def_ro("name", &SettingInfo::name, "Name.")
      .def_ro("meaning", &SettingInfo::meaning, "Description of one sentence.")
      .def_prop_ro(
          "default", [](const SettingInfo& setting) { return Any(setting.value); }, "Default value.")
      .def_prop_ro(
          "least", [](const SettingInfo& setting) { return Limit(setting.least); },
          "Least value, or None if there is none.")
      .def_prop_ro(
          "most", [](const SettingInfo& setting) { return Limit(setting.most); },
          "Greatest value, or None if there is none.")
      .def_ro("choices", &SettingInfo::choices, "All values, if they are names; else empty.");
}

}  // namespace hiero
