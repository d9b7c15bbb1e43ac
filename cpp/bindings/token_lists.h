// Lists of tokens from Python. A string, which is a sequence of strings too, raises a TypeError that says how
// to split it.
#pragma once

#include <string>
#include <vector>

#include "bindings.h"

namespace hiero {

struct Tokens {
  std::vector<std::string> values;
};

struct TokenLists {
  std::vector<std::vector<std::string>> values;
};

// Throws nb::type_error for a string.
inline void refuse_string(const nb::handle& object) {
  if (nb::isinstance<nb::str>(object))
    throw type_error("expected a list of tokens, not the string " + repr_of(object) + ": take its .split()");
}

}  // namespace hiero

namespace nanobind::detail {

template <class Holder>
struct token_caster {
  using Value = Holder;
  using Inner = make_caster<decltype(Holder::values)>;
  static constexpr auto Name = Inner::Name;
  template <class T>
  using Cast = Holder;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(handle object, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    source = object;
    loaded = inner.from_python(object, flags, cleanup);
    return loaded || PySequence_Check(object.ptr());
  }
  // nanobind lets only this operator throw.
  explicit operator Holder() {
    hiero::refuse_string(source);
    if constexpr (std::is_same_v<Holder, hiero::TokenLists>) {
      if (PySequence_Check(source.ptr()))
        for (const handle tokens : borrow<iterable>(source)) hiero::refuse_string(tokens);
    }
    if (!loaded) throw next_overload();
    return {inner.operator decltype(Holder::values)&&()};
  }

  handle source;
  Inner inner;
  bool loaded = false;
};

template <>
struct type_caster<hiero::Tokens> : token_caster<hiero::Tokens> {};
template <>
struct type_caster<hiero::TokenLists> : token_caster<hiero::TokenLists> {};

}  // namespace nanobind::detail
