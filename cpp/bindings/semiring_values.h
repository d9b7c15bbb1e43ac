// Values of semirings as Python sees them: numbers; (score, edges) for a derivation; components in a tuple
// for the expectation semirings, each a Scaled or, on the way in, a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bind_forest.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {

template <class T>
struct Convert {
  static py::object out(const T& value) { return py::cast(value); }
  static T in(const py::handle& value) { return value.cast<T>(); }
};

template <>
struct Convert<py::object> {
  static py::object out(const py::object& value) { return value; }
  static py::object in(const py::handle& value) { return py::reinterpret_borrow<py::object>(value); }
};

template <>
struct Convert<std::uint8_t> {
  static py::object out(std::uint8_t value) { return py::bool_(value != 0); }
  static std::uint8_t in(const py::handle& value) { return value.cast<bool>() ? 1 : 0; }
};

template <>
struct Convert<BigUnsigned> {
  static py::object out(const BigUnsigned& value) { return to_python(value); }
  static BigUnsigned in(const py::handle& value) {
    std::vector<std::uint32_t> digits;
    py::int_ rest(py::reinterpret_borrow<py::object>(value));
    if (rest < py::int_(0)) throw std::invalid_argument("a number of derivations is not negative");
    const auto size = rest.attr("bit_length")().cast<std::size_t>();
    for (std::size_t bits = 0; bits < size; bits += 32) {
      digits.push_back((rest & py::int_(0xFFFFFFFFu)).cast<std::uint32_t>());
      rest = py::int_(rest >> py::int_(32));
    }
    return BigUnsigned(std::move(digits));
  }
};

template <>
struct Convert<Scaled> {
  static py::object out(Scaled value) { return py::cast(value); }
  static Scaled in(const py::handle& value) {
    if (py::isinstance<Scaled>(value)) return value.cast<Scaled>();
    const double number = value.cast<double>();
    if (!std::isfinite(number)) throw std::invalid_argument("expected a finite number");
    return Scaled(number);
  }
};

template <>
struct Convert<BestValue> {
  static py::object out(const BestValue& value) {
    const std::vector<std::int32_t> edges = edges_of(value.edges.get());
    return py::make_tuple(value.score, py::tuple(py::cast(edges)));
  }
  static BestValue in(const py::handle& value) {
    const auto [score, edges] = value.cast<std::pair<double, std::vector<std::int32_t>>>();
    if (!(score < std::numeric_limits<double>::infinity()))
      throw std::invalid_argument("a score is finite or -inf");
    BestValue out{0, nullptr};
    for (const std::int32_t edge : edges) {
      if (edge < 0) throw std::invalid_argument("an edge index is not negative");
      out = join(out, {0, std::make_shared<EdgeString>(edge, nullptr, nullptr)});
    }
    out.score = score;
    return score == BestValue().score ? BestValue() : out;
  }
};

template <>
struct Convert<KBestSemiring::Value> {
  static py::object out(const KBestSemiring::Value& values) {
    py::list list;
    for (const BestValue& value : values) list.append(Convert<BestValue>::out(value));
    return list;
  }
  static KBestSemiring::Value in(const py::handle& list) {
    KBestSemiring::Value values;
    for (const py::handle& value : py::reinterpret_borrow<py::iterable>(list)) {
      BestValue best = Convert<BestValue>::in(value);
      if (best.score != BestValue().score) values.push_back(std::move(best));
    }
    std::ranges::sort(values, is_better);
    return values;
  }
};

template <>
struct Convert<ScaledVector> {
  static py::object out(const ScaledVector& values) { return py::tuple(py::cast(values)); }
  static ScaledVector in(const py::handle& list) {
    ScaledVector values;
    for (const py::handle& value : py::reinterpret_borrow<py::iterable>(list))
      values.push_back(Convert<Scaled>::in(value));
    return values;
  }
};

template <>
struct Convert<ExpectationSemiring::Value> {
  static py::object out(const ExpectationSemiring::Value& v) {
    return py::make_tuple(v.k, Convert<ScaledVector>::out(v.x));
  }
  static ExpectationSemiring::Value in(const py::handle& value) {
    const auto [p, r] = value.cast<std::pair<py::object, py::object>>();
    return {Convert<Scaled>::in(p), Convert<ScaledVector>::in(r)};
  }
};

template <>
struct Convert<SecondOrderSemiring::Value> {
  static py::object out(const SecondOrderSemiring::Value& v) {
    return py::make_tuple(v.p, Convert<ScaledVector>::out(v.r), Convert<ScaledVector>::out(v.s),
                          Convert<ScaledVector>::out(v.t));
  }
  static SecondOrderSemiring::Value in(const py::handle& value) {
    const auto [p, r, s, t] = value.cast<std::tuple<py::object, py::object, py::object, py::object>>();
    return {Convert<Scaled>::in(p), Convert<ScaledVector>::in(r), Convert<ScaledVector>::in(s),
            Convert<ScaledVector>::in(t)};
  }
};

template <>
struct Convert<LiftedSemiring::Value> {
  static py::object out(const LiftedSemiring::Value& v) {
    return py::make_tuple(
        Convert<ExpectationSemiring::Value>::out(v.k),
        py::make_tuple(Convert<ScaledVector>::out(v.x.s), Convert<ScaledVector>::out(v.x.t)));
  }
  static LiftedSemiring::Value in(const py::handle& value) {
    const auto [k, x] = value.cast<std::pair<py::object, std::pair<py::object, py::object>>>();
    return {Convert<ExpectationSemiring::Value>::in(k),
            {Convert<ScaledVector>::in(x.first), Convert<ScaledVector>::in(x.second)}};
  }
};

}  // namespace hiero
