// Options structs with settings (hiero/base/setting.h) as Python classes: made of values by name, and telling
// what settings they have.
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

// What Python knows of a setting: see _core.pyi.
struct SettingInfo {
  std::string name;
  std::string meaning;
  py::object value;
  py::object least = py::none();
  py::object most = py::none();
  std::vector<std::string> choices = {};
};

namespace setting_values {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

template <class T>
py::object to_python(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return py::str(name_of(value));
  } else if constexpr (std::is_same_v<T, std::vector<LineRange>>) {
    py::tuple out(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) out[i] = py::make_tuple(value[i].first, value[i].last);
    return out;
  } else {
    return py::cast(value);
  }
}

// Of that very type, or a whole number for a fraction. Throws std::invalid_argument.
template <class T>
T exactly(const py::handle& value, const char* name) {
  py::detail::make_caster<T> caster;
  const bool is_flag = PyBool_Check(value.ptr());
  const bool may_convert =
      std::is_floating_point_v<T> || (std::is_integral_v<T> && PyIndex_Check(value.ptr()));
  if (is_flag != std::is_same_v<T, bool> || !caster.load(value, may_convert))
    throw std::invalid_argument(std::string(name) + ": " + std::string(py::repr(value)) +
                                " is no such value");
  return py::detail::cast_op<T>(std::move(caster));
}

template <class T>
T from_python(const py::handle& value, const char* name) {
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
    out.least = py::cast(least.value_or(std::numeric_limits<T>::min()));
    out.most = py::cast(most.value_or(std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (least) out.least = py::cast(*least);
    if (most) out.most = py::cast(*most);
  }
  return out;
}

}  // namespace setting_values

template <class Options>
void register_options(py::module_& m, const char* name, const char* text) {
  py::class_<Options>(m, name, text)
      .def(py::init([](const py::kwargs& values) {
             Options options;
             py::set unknown(values);
             Options::visit_settings([&](const auto& setting) {
               if (!values.contains(setting.name)) return;
               using T = std::remove_cvref_t<decltype(options.*setting.field)>;
               options.*setting.field = setting_values::from_python<T>(values[setting.name], setting.name);
               unknown.attr("discard")(setting.name);
             });
             for (const py::handle& other : unknown)
               throw py::type_error("no setting is named " + std::string(py::str(other)));
             check_settings(options);
             return options;
           }),
           "Settings by name, others with their defaults. Raises ValueError for values out of limits.")
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
          "What settings there are, with their defaults.");
}

}  // namespace hiero
