// Real numbers of enormous range and either sign: mantissa * 2^(256 exponent). What Li and Eisner (2009,
// section 3.4, footnote 6) propose in place of (sign, log) pairs: sums and products cost a few
// instructions and are as exact as those of doubles, which logs are not.
//
// A mantissa is 0 or at least 2^-128 and below 2^128 in size, so that products of two never overflow.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace hiero {

class Scaled {
 public:
  constexpr Scaled() = default;
  // A finite number.
  explicit Scaled(double value) {
    // Into the middle of the range first, as a double may be as small as 2^-1074.
    mantissa_ = value;
    exponent_ = 0;
    while (std::abs(mantissa_) >= kHigh) shift_down();
    while (mantissa_ != 0 && std::abs(mantissa_) < kLow) shift_up();
    if (mantissa_ == 0) *this = Scaled();
  }

  // Of logs: beyond, doubles tell no weights apart, and further on exponents do not fit.
  static constexpr double kMostLog = 1e12;

  // e^x, for x of at most kMostLog in size or -infinity; right to a few units in the last place of what the
  // double x says.
  static Scaled exp(double x) {
    if (x == -std::numeric_limits<double>::infinity()) return {};
    // x = (256 q + s) ln 2 + r; ln 2 in two parts, the first short enough for exact products.
    constexpr double kHighLn2 = 0x1.62e42fee00000p-1;
    constexpr double kLowLn2 = 0x1.a39ef35793c76p-33;
    const double k = std::nearbyint(x * 0x1.71547652b82fep0);
    const double r = (x - k * kHighLn2) - k * kLowLn2;
    const double q = std::nearbyint(k / kStep);
    Scaled out;
    out.mantissa_ = std::ldexp(std::exp(r), static_cast<int>(k - q * kStep));
    out.exponent_ = static_cast<std::int64_t>(q);
    out.normalise();
    return out;
  }

  // Natural log of the absolute value; -infinity for 0.
  double log_abs() const {
    if (mantissa_ == 0) return -std::numeric_limits<double>::infinity();
    return std::log(std::abs(mantissa_)) + static_cast<double>(exponent_) * (kStep * 0x1.62e42fefa39efp-1);
  }
  int sign() const { return (mantissa_ > 0) - (mantissa_ < 0); }
  bool is_zero() const { return mantissa_ == 0; }
  // Overflows to infinity and underflows to zero as doubles do.
  double value() const {
    if (exponent_ == 0 || mantissa_ == 0) return mantissa_;
    if (exponent_ > 8) return mantissa_ * std::numeric_limits<double>::infinity();
    if (exponent_ < -8) return mantissa_ < 0 ? -0.0 : 0.0;
    return std::ldexp(mantissa_, static_cast<int>(exponent_) * static_cast<int>(kStep));
  }

  friend Scaled operator*(Scaled a, Scaled b) {
    a.mantissa_ *= b.mantissa_;
    a.exponent_ += b.exponent_;
    a.normalise();
    return a;
  }
  // b is not 0.
  friend Scaled operator/(Scaled a, Scaled b) {
    a.mantissa_ /= b.mantissa_;
    a.exponent_ -= b.exponent_;
    a.normalise();
    return a;
  }
  friend Scaled operator+(Scaled a, Scaled b) {
    if (a.exponent_ < b.exponent_) std::swap(a, b);
    const std::int64_t apart = a.exponent_ - b.exponent_;
    if (apart > 1) return a;  // b is less than 2^-256 of a
    a.mantissa_ += apart == 0 ? b.mantissa_ : b.mantissa_ * kDown;
    a.normalise();
    return a;
  }
  friend Scaled operator-(Scaled a) {
    a.mantissa_ = -a.mantissa_;
    return a;
  }
  friend Scaled operator-(Scaled a, Scaled b) { return a + -b; }
  Scaled& operator+=(Scaled b) { return *this = *this + b; }
  Scaled& operator*=(Scaled b) { return *this = *this * b; }
  friend bool operator==(const Scaled&, const Scaled&) = default;

 private:
  static constexpr double kStep = 256;
  static constexpr double kHigh = 0x1p128;
  static constexpr double kLow = 0x1p-128;
  static constexpr double kUp = 0x1p256;
  static constexpr double kDown = 0x1p-256;
  // Of zero: below all others, and so that sums of a few of them do not overflow.
  static constexpr std::int64_t kZero = -(std::int64_t{1} << 56);

  void shift_up() {
    mantissa_ *= kUp;
    --exponent_;
  }
  void shift_down() {
    mantissa_ *= kDown;
    ++exponent_;
  }
  // After one operation, which leaves at most one step to take.
  void normalise() {
    const double size = std::abs(mantissa_);
    if (size >= kHigh) {
      shift_down();
    } else if (size < kLow) {
      if (mantissa_ == 0) {
        *this = Scaled();
      } else {
        shift_up();
      }
    }
  }

  double mantissa_ = 0;
  std::int64_t exponent_ = kZero;
};

}  // namespace hiero
