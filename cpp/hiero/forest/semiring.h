// Semirings: the operations on weights that the inside and outside algorithms need (Goodman 1999). A semiring
// is an object, so that it can hold a size, which its values do not.
//
//   Value zero(), one(); Value plus(a, b), times(a, b); where it exists, Value star(a) = 1 + a + a a + ...
//
// plus is associative and commutative, times associative, distributes over plus on both sides; zero
// annihilates. A new semiring is one struct with these members. Where star(a) is not defined for an a, it
// throws std::domain_error.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hiero/forest/big_unsigned.h"
#include "hiero/forest/scaled.h"

namespace hiero {

template <class S>
concept Semiring = requires(const S& s, const typename S::Value& a) {
  { s.zero() } -> std::same_as<typename S::Value>;
  { s.one() } -> std::same_as<typename S::Value>;
  { s.plus(a, a) } -> std::same_as<typename S::Value>;
  { s.times(a, a) } -> std::same_as<typename S::Value>;
};

// Semirings with set_zero(a), add(a, b) and multiply(a, b), which put the result into a and save temporary
// values.
template <class S>
concept InPlaceSemiring =
    Semiring<S> && requires(const S& s, typename S::Value& a, const typename S::Value& b) {
      s.set_zero(a);
      s.add(a, b);
      s.multiply(a, b);
    };

template <class S>
concept ClosedSemiring = Semiring<S> && requires(const S& s, const typename S::Value& a) {
  { s.star(a) } -> std::same_as<typename S::Value>;
};

[[noreturn]] inline void no_star() { throw std::domain_error("star: the sum of all powers does not exist"); }

// Tells whether there is a derivation.
struct BooleanSemiring {
  using Value = std::uint8_t;  // 0 or 1; a std::vector<bool> has no references to elements
  Value zero() const { return 0; }
  Value one() const { return 1; }
  Value plus(Value a, Value b) const { return a | b; }
  Value times(Value a, Value b) const { return a & b; }
  Value star(Value) const { return 1; }
};

// Counts derivations.
struct CountingSemiring {
  using Value = BigUnsigned;
  Value zero() const { return {}; }
  Value one() const { return BigUnsigned(1); }
  Value plus(const Value& a, const Value& b) const { return Value(a) += b; }
  Value times(const Value& a, const Value& b) const { return a * b; }
  Value star(const Value& a) const {
    if (!a.is_zero()) no_star();
    return one();
  }
};

struct RealSemiring {
  using Value = double;
  Value zero() const { return 0; }
  Value one() const { return 1; }
  Value plus(Value a, Value b) const { return a + b; }
  Value times(Value a, Value b) const { return a * b; }
  Value star(Value a) const {
    if (!(std::abs(a) < 1)) no_star();
    return 1 / (1 - a);
  }
};

// Natural logs of numbers of 0 or more.
struct LogSemiring {
  using Value = double;
  Value zero() const { return -std::numeric_limits<double>::infinity(); }
  Value one() const { return 0; }
  Value plus(Value a, Value b) const {
    const double high = std::max(a, b);
    if (high == zero()) return high;
    return high + std::log1p(std::exp(std::min(a, b) - high));
  }
  Value times(Value a, Value b) const { return a + b; }
  Value star(Value a) const {
    if (!(a < 0)) no_star();
    return -std::log1p(-std::exp(a));
  }
};

// Costs, of which the least total is taken.
struct TropicalSemiring {
  using Value = double;
  Value zero() const { return std::numeric_limits<double>::infinity(); }
  Value one() const { return 0; }
  Value plus(Value a, Value b) const { return std::min(a, b); }
  Value times(Value a, Value b) const { return a + b; }
  Value star(Value a) const {
    if (!(a >= 0)) no_star();
    return one();
  }
};

// Numbers of either sign and of any size; see scaled.h.
struct ScaledSemiring {
  using Value = Scaled;
  Value zero() const { return {}; }
  Value one() const { return Scaled(1); }
  Value plus(Value a, Value b) const { return a + b; }
  Value times(Value a, Value b) const { return a * b; }
  Value star(Value a) const {
    if (!(a.log_abs() < 0)) no_star();
    return one() / (one() - a);
  }
};

// The edges of a derivation in the order in which times joined them, as a tree with shared parts, so that
// joining takes O(1).
struct EdgeString;
using EdgeStringPtr = std::shared_ptr<const EdgeString>;  // null: no edges
struct EdgeString {
  std::int32_t edge = -1;  // leaves only
  mutable EdgeStringPtr left, right;

  EdgeString(std::int32_t leaf, EdgeStringPtr l, EdgeStringPtr r)
      : edge(leaf), left(std::move(l)), right(std::move(r)) {}
  EdgeString(const EdgeString&) = delete;
  EdgeString& operator=(const EdgeString&) = delete;
  // Frees the parts without recursion: a tree may be as deep as the string is long.
  ~EdgeString();
};

// Returns the edges of a string, first to last.
std::vector<std::int32_t> edges_of(const EdgeString* string);

// A derivation and the sum of its scores. Of equal scores, the string that comes first by edge indices is
// better, so that ties between derivations of one node go by edge index.
struct BestValue {
  double score = -std::numeric_limits<double>::infinity();
  EdgeStringPtr edges;
};

bool is_better(const BestValue& a, const BestValue& b);
BestValue join(const BestValue& a, const BestValue& b);

// The best derivation with its backpointers.
struct ViterbiSemiring {
  using Value = BestValue;
  Value zero() const { return {}; }
  Value one() const { return {0, nullptr}; }
  Value plus(const Value& a, const Value& b) const { return is_better(b, a) ? b : a; }
  Value times(const Value& a, const Value& b) const { return join(a, b); }
  Value star(const Value& a) const {
    if (!(a.score <= 0)) no_star();
    return one();
  }
};

// The k best derivations with a score above -infinity, best first.
struct KBestSemiring {
  using Value = std::vector<BestValue>;
  std::size_t k;

  Value zero() const { return {}; }
  Value one() const { return {{0, nullptr}}; }
  Value plus(const Value& a, const Value& b) const;
  Value times(const Value& a, const Value& b) const;
  Value star(const Value& a) const;
};

// Vectors of Scaled, for the modules of expectation semirings.
using ScaledVector = std::vector<Scaled>;

// R^n over Scaled.
struct VectorModule {
  using Value = ScaledVector;
  std::size_t size;

  Value zero() const { return Value(size); }
  Value plus(const Value& a, const Value& b) const {
    Value out(a);
    for (std::size_t i = 0; i < size; ++i) out[i] += b[i];
    return out;
  }
  Value act(Scaled p, const Value& x) const {
    Value out(x);
    for (Scaled& value : out) value *= p;
    return out;
  }
};

// The first-order expectation semiring E_{K,X} over any commutative semiring K and K-module X (Li and Eisner
// 2009, Table 1 and section 4.1). `module.act(k, x)` multiplies an element of X.
template <Semiring K, class X>
struct FirstOrder {
  struct Value {
    typename K::Value k;
    typename X::Value x;
  };
  K scalars;
  X module;

  Value zero() const { return {scalars.zero(), module.zero()}; }
  Value one() const { return {scalars.one(), module.zero()}; }
  Value plus(const Value& a, const Value& b) const { return {scalars.plus(a.k, b.k), module.plus(a.x, b.x)}; }
  Value times(const Value& a, const Value& b) const {
    return {scalars.times(a.k, b.k), module.plus(module.act(a.k, b.x), module.act(b.k, a.x))};
  }
  Value star(const Value& a) const {
    const typename K::Value star = scalars.star(a.k);
    return {star, module.act(scalars.times(star, star), a.x)};
  }
};

// E_{R,R^n}.
using ExpectationSemiring = FirstOrder<ScaledSemiring, VectorModule>;

// The second-order expectation semiring E_{R,R^n,R^m,R^{n x m}} (Li and Eisner 2009, Table 2); t in rows.
struct SecondOrderSemiring {
  struct Value {
    Scaled p;
    ScaledVector r, s, t;
  };
  std::size_t n, m;

  Value zero() const { return {{}, ScaledVector(n), ScaledVector(m), ScaledVector(n * m)}; }
  Value one() const { return {Scaled(1), ScaledVector(n), ScaledVector(m), ScaledVector(n * m)}; }
  Value plus(const Value& a, const Value& b) const;
  Value times(const Value& a, const Value& b) const;
  Value star(const Value& a) const;
};

// S x T as a module over E_{R,R^n}: (p, r)(s, t) = (p s, p t + r s) (Li and Eisner 2009, Table 4).
struct PairModule {
  struct Value {
    ScaledVector s, t;
  };
  std::size_t n, m;

  Value zero() const { return {ScaledVector(m), ScaledVector(n * m)}; }
  Value plus(const Value& a, const Value& b) const;
  Value act(const ExpectationSemiring::Value& k, const Value& x) const;
};

// The second-order semiring as a first-order one over a first-order one (section 4.3).
using LiftedSemiring = FirstOrder<ExpectationSemiring, PairModule>;

}  // namespace hiero
