// Tokens from Python. A string would do where a sequence of strings is expected, as one of its characters; it
// is refused, with a message that says what is meant.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

namespace hiero {

struct Tokens {
  std::vector<std::string> values;
};

struct TokenLists {
  std::vector<std::vector<std::string>> values;
};

}  // namespace hiero

namespace pybind11::detail {

template <class Holder>
struct token_caster {
  using Values = decltype(Holder::values);
  PYBIND11_TYPE_CASTER(Holder, make_caster<Values>::name);

  bool load(handle source, bool convert) {
    refuse(source);
    if constexpr (std::is_same_v<Holder, hiero::TokenLists>) {
      if (!isinstance<sequence>(source)) return false;
      for (const handle each : reinterpret_borrow<sequence>(source)) refuse(each);
    }
    make_caster<Values> inner;
    if (!inner.load(source, convert)) return false;
    value.values = cast_op<Values&&>(std::move(inner));
    return true;
  }

 private:
  static void refuse(handle source) {
    if (!isinstance<str>(source)) return;
    throw type_error("expected a list of tokens, not the string " + repr(source).cast<std::string>() +
                     ": take its .split()");
  }
};

template <>
struct type_caster<hiero::Tokens> : token_caster<hiero::Tokens> {};
template <>
struct type_caster<hiero::TokenLists> : token_caster<hiero::TokenLists> {};

}  // namespace pybind11::detail
