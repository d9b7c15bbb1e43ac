// What is known of a setting besides its default: said once, beside the fields of an options struct, for
// whoever checks, binds, prints or asks for settings. A struct with settings has a function
//   template <class Visit> static void visit_settings(const Visit& visit)
// which calls visit(Setting{field, name, meaning}) for every one of them, and an enumeration that is a
// setting has the names of its values: a specialisation of kNames.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace hiero {

template <class Options, class T>
struct Setting {
  T Options::* field;
  const char* name;
  const char* meaning;
  // Where the type says more.
  std::optional<std::type_identity_t<T>> least = std::nullopt;
  std::optional<std::type_identity_t<T>> most = std::nullopt;
};
template <class Options, class T, class... Limits>
Setting(T Options::*, const char*, const char*, Limits...) -> Setting<Options, T>;

// The names of an enumeration's values, which count from 0.
template <class E>
inline constexpr std::array<std::string_view, 0> kNames{};

template <class E>
std::string name_of(E value) {
  static_assert(!kNames<E>.empty());
  return std::string(kNames<E>.at(static_cast<std::size_t>(value)));
}

// The value of that name. Throws std::invalid_argument, with `what`, for another name.
template <class E>
E value_named(std::string_view name, const char* what) {
  const auto& names = kNames<E>;
  static_assert(!kNames<E>.empty());
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<E>(found - names.begin());
  std::string expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    expected += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  }
  throw std::invalid_argument(std::string(what) + ": expected " + expected + ", not " + std::string(name));
}

// Throws std::invalid_argument for a setting that is out of its limits.
template <class Options>
void check_settings(const Options& options) {
  Options::visit_settings([&options](const auto& setting) {
    const auto& value = options.*setting.field;
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
      const auto fail = [&](const char* than, auto limit) {
        std::ostringstream text;
        text << setting.name << " must be at " << than << " " << limit << ", not " << value;
        throw std::invalid_argument(text.str());
      };
      // Not a number is neither.
      if (setting.least && !(value >= *setting.least)) fail("least", *setting.least);
      if (setting.most && !(value <= *setting.most)) fail("most", *setting.most);
    }
  });
}

}  // namespace hiero
