// The description of a setting: its field in an options struct, its name, its meaning and its limits. It is
// written once, beside the struct. The checks, the bindings, model.toml and the command line use it.
//
// How to add a setting:
//   1. Add a field with its default to the options struct.
//   2. Call visit(Setting{&Options::field, "field", "meaning", min, max}) in the struct's function
//      template <class Visit> static void visit_settings(const Visit& visit). The limits may be left out.
//   3. An enumeration also needs names of its values: specialise kNames for it.
// The meaning is a noun phrase that begins with a small letter; the command line shows it as help.
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
  // Limits of a number, inclusive.
  std::optional<std::type_identity_t<T>> least = std::nullopt;
  std::optional<std::type_identity_t<T>> most = std::nullopt;
};
template <class Options, class T, class... Limits>
Setting(T Options::*, const char*, const char*, Limits...) -> Setting<Options, T>;

// Names of an enumeration's values, which are numbered from 0.
template <class E>
inline constexpr std::array<std::string_view, 0> kNames{};

template <class E>
std::string name_of(E value) {
  static_assert(!kNames<E>.empty());
  return std::string(kNames<E>.at(static_cast<std::size_t>(value)));
}

// Returns the value with this name. For an unknown name it throws std::invalid_argument with a message that
// begins with `what`.
template <class E>
E value_named(std::string_view name, const char* what) {
  const auto& names = kNames<E>;
  static_assert(!kNames<E>.empty());
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<E>(it - names.begin());
  std::string expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    expected += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  }
  throw std::invalid_argument(std::string(what) + ": expected " + expected + ", not " + std::string(name));
}

// Throws std::invalid_argument for a number outside the limits of its setting.
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
      // The negation catches NaN, for which every comparison is false.
      if (setting.least && !(value >= *setting.least)) fail("least", *setting.least);
      if (setting.most && !(value <= *setting.most)) fail("most", *setting.most);
    }
  });
}

}  // namespace hiero
