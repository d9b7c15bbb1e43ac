// Python classes for options structs with settings (hiero/base/setting.h): their constructors take settings
// by name, and their method settings() describes them.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "hiero/base/setting.h"
#include "hiero/extract/options.h"

namespace hiero {

// Describes a setting to Python.
struct SettingInfo {
  std::string name;
  std::string meaning;
  nb::object value;
  nb::object least = nb::none();
  nb::object most = nb::none();
  std::vector<std::string> choices = {};
};

using Limit = Annotated<"float | None">;

namespace setting_values {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

template <class T>
nb::object to_python(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return nb::cast(name_of(value));
  } else if constexpr (std::is_same_v<T, std::vector<LineRange>>) {
    Pairs pairs;
    for (const LineRange& range : value) pairs.emplace_back(range.first, range.last);
    return nb::tuple(nb::cast(pairs));
  } else {
    return nb::cast(value);
  }
}

// Converts a value of exactly this type, or a whole number for a fraction. Throws std::invalid_argument.
template <class T>
T exactly(const nb::handle& value, const char* name) {
  T out{};
  const bool is_flag = PyBool_Check(value.ptr());
  if (is_flag != std::is_same_v<T, bool> || !nb::try_cast(value, out))
    throw std::invalid_argument(std::string(name) + ": " + repr_of(value) + " is no such value");
  return out;
}

template <class T>
T from_python(const nb::handle& value, const char* name) {
  if constexpr (std::is_enum_v<T>) {
    return value_named<T>(exactly<std::string>(value, name), name);
  } else if constexpr (std::is_same_v<T, std::vector<LineRange>>) {
    T out;
    for (const auto& [first, last] : exactly<Pairs>(value, name)) out.push_back({first, last});
    return out;
  } else {
    return exactly<T>(value, name);
  }
}

template <class T>
SettingInfo info(const char* name, const char* meaning, const T& value, const std::optional<T>& least,
                 const std::optional<T>& most) {
  SettingInfo out{name, meaning, to_python(value)};
  if constexpr (std::is_enum_v<T>) {
    out.choices.assign(kNames<T>.begin(), kNames<T>.end());
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    out.least = nb::cast(least.value_or(std::numeric_limits<T>::min()));
    out.most = nb::cast(most.value_or(std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (least) out.least = nb::cast(*least);
    if (most) out.most = nb::cast(*most);
  }
  return out;
}

}  // namespace setting_values

template <class Options>
void register_options(nb::module_& m, const char* name, const char* text) {
  define<Options>(m, name, text)
      .def(
          "__init__",
          [](Options* self, const nb::kwargs& values) {
            Options options;
            const nb::set unknown(values);
            Options::visit_settings([&](const auto& setting) {
              if (!values.contains(setting.name)) return;
              using T = std::remove_cvref_t<decltype(options.*setting.field)>;
              options.*setting.field = setting_values::from_python<T>(values[setting.name], setting.name);
              unknown.attr("discard")(setting.name);
            });
            for (const nb::handle other : unknown)
              throw type_error("no setting is named " + nb::cast<std::string>(nb::str(other)));
            check_settings(options);
            new (self) Options(std::move(options));
          },
          nb::sig("def __init__(self, **values: typing.Any) -> None"),
          R"(Sets settings by name; the others have their defaults.

Raises:
    ValueError: A value is out of its limits or of a wrong type.
    TypeError: A name is unknown.)")
      .def_static(
          "settings",
          [] {
            const Options defaults;
            std::vector<SettingInfo> out;
            Options::visit_settings([&](const auto& setting) {
              out.push_back(setting_values::info(setting.name, setting.meaning, defaults.*setting.field,
                                                 setting.least, setting.most));
            });
            return out;
          },
          "Returns a description of each setting.");
}

}  // namespace hiero
