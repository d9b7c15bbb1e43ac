// Conversions of semiring values: numbers; (score, edges) for a derivation; tuples of components for the
// expectation semirings, each a Scaled, or any number as input.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "conversions.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {

template <class T>
struct Convert {
  static nb::object out(const T& value) { return nb::cast(value); }
  static T in(const nb::handle& value) { return nb::cast<T>(value); }
};

template <>
struct Convert<nb::object> {
  static nb::object out(const nb::object& value) { return value; }
  static nb::object in(const nb::handle& value) { return nb::borrow(value); }
};

template <>
struct Convert<std::uint8_t> {
  static nb::object out(std::uint8_t value) { return nb::bool_(value != 0); }
  static std::uint8_t in(const nb::handle& value) { return nb::cast<Truth>(value) ? 1 : 0; }
};

template <>
struct Convert<BigUnsigned> {
  static nb::object out(const BigUnsigned& value) { return to_python(value); }
  static BigUnsigned in(const nb::handle& value) {
    std::vector<std::uint32_t> digits;
    nb::object rest = nb::int_(value);
    if (rest < nb::int_(0)) throw std::invalid_argument("a number of derivations is not negative");
    const auto size = nb::cast<std::size_t>(rest.attr("bit_length")());
    for (std::size_t bits = 0; bits < size; bits += 32) {
      digits.push_back(nb::cast<std::uint32_t>(rest & nb::int_(0xFFFFFFFFu)));
      rest = rest >> nb::int_(32);
    }
    return BigUnsigned(std::move(digits));
  }
};

template <>
struct Convert<Scaled> {
  static nb::object out(Scaled value) { return nb::cast(value); }
  static Scaled in(const nb::handle& value) {
    if (nb::isinstance<Scaled>(value)) return nb::cast<Scaled>(value);
    const double number = nb::cast<double>(value);
    if (!std::isfinite(number)) throw std::invalid_argument("expected a finite number");
    return Scaled(number);
  }
};

template <>
struct Convert<BestValue> {
  static nb::object out(const BestValue& value) {
    const std::vector<std::int32_t> edges = edges_of(value.edges.get());
    return nb::make_tuple(value.score, nb::tuple(nb::cast(edges)));
  }
  static BestValue in(const nb::handle& value) {
    const auto [score, edges] = nb::cast<std::pair<double, std::vector<std::int32_t>>>(value);
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
  static nb::object out(const KBestSemiring::Value& values) {
    nb::list list;
    for (const BestValue& value : values) list.append(Convert<BestValue>::out(value));
    return list;
  }
  static KBestSemiring::Value in(const nb::handle& list) {
    KBestSemiring::Value values;
    for (const nb::handle& value : nb::borrow<nb::iterable>(list)) {
      BestValue best = Convert<BestValue>::in(value);
      if (best.score != BestValue().score) values.push_back(std::move(best));
    }
    std::ranges::sort(values, is_better);
    return values;
  }
};

template <>
struct Convert<ScaledVector> {
  static nb::object out(const ScaledVector& values) { return nb::tuple(nb::cast(values)); }
  static ScaledVector in(const nb::handle& list) {
    ScaledVector values;
    for (const nb::handle& value : nb::borrow<nb::iterable>(list))
      values.push_back(Convert<Scaled>::in(value));
    return values;
  }
};

template <>
struct Convert<ExpectationSemiring::Value> {
  static nb::object out(const ExpectationSemiring::Value& v) {
    return nb::make_tuple(v.k, Convert<ScaledVector>::out(v.x));
  }
  static ExpectationSemiring::Value in(const nb::handle& value) {
    const auto [p, r] = nb::cast<std::pair<nb::object, nb::object>>(value);
    return {Convert<Scaled>::in(p), Convert<ScaledVector>::in(r)};
  }
};

template <>
struct Convert<SecondOrderSemiring::Value> {
  static nb::object out(const SecondOrderSemiring::Value& v) {
    return nb::make_tuple(v.p, Convert<ScaledVector>::out(v.r), Convert<ScaledVector>::out(v.s),
                          Convert<ScaledVector>::out(v.t));
  }
  static SecondOrderSemiring::Value in(const nb::handle& value) {
    const auto [p, r, s, t] = nb::cast<std::tuple<nb::object, nb::object, nb::object, nb::object>>(value);
    return {Convert<Scaled>::in(p), Convert<ScaledVector>::in(r), Convert<ScaledVector>::in(s),
            Convert<ScaledVector>::in(t)};
  }
};

template <>
struct Convert<LiftedSemiring::Value> {
  static nb::object out(const LiftedSemiring::Value& v) {
    return nb::make_tuple(
        Convert<ExpectationSemiring::Value>::out(v.k),
        nb::make_tuple(Convert<ScaledVector>::out(v.x.s), Convert<ScaledVector>::out(v.x.t)));
  }
  static LiftedSemiring::Value in(const nb::handle& value) {
    const auto [k, x] = nb::cast<std::pair<nb::object, std::pair<nb::object, nb::object>>>(value);
    return {Convert<ExpectationSemiring::Value>::in(k),
            {Convert<ScaledVector>::in(x.first), Convert<ScaledVector>::in(x.second)}};
  }
};

}  // namespace hiero
