// Real numbers of enormous range and either sign, as mantissa * 2^(256 exponent), which Li and Eisner (2009,
// section 3.4, footnote 6) propose in place of (sign, log) pairs: sums and products take a few instructions
// and are as exact as those of doubles, unlike those of logs.
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
  // Takes a finite number.
  explicit Scaled(double value) {
    // In steps, as a double may be as small as 2^-1074.
    mantissa_ = value;
    exponent_ = 0;
    while (std::abs(mantissa_) >= kHigh) shift_down();
    while (mantissa_ != 0 && std::abs(mantissa_) < kLow) shift_up();
    if (mantissa_ == 0) *this = Scaled();
  }

  // Greatest absolute value of logs: beyond it, doubles do not tell weights apart, and then exponents
  // overflow.
  static constexpr double kMostLog = 1e12;

  // Returns e^x, for |x| of at most kMostLog or x = -infinity, exact to a few units in the last place.
  static Scaled exp(double x) {
    if (x == -std::numeric_limits<double>::infinity()) return {};
    // x = (256 q + s) ln 2 + r, with ln 2 in two parts, the first short enough for exact products.
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

  // Returns the natural log of the absolute value; -infinity for 0.
  double log_abs() const {
    if (mantissa_ == 0) return -std::numeric_limits<double>::infinity();
    return std::log(std::abs(mantissa_)) + static_cast<double>(exponent_) * (kStep * 0x1.62e42fefa39efp-1);
  }
  int sign() const { return (mantissa_ > 0) - (mantissa_ < 0); }
  bool is_zero() const { return mantissa_ == 0; }
  // Returns the nearest double, which may be infinite or zero.
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
  // b must not be 0.
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
  // Exponent of zero: below all others, and small enough that sums of a few of them do not overflow.
  static constexpr std::int64_t kZero = -(std::int64_t{1} << 56);

  void shift_up() {
    mantissa_ *= kUp;
    --exponent_;
  }
  void shift_down() {
    mantissa_ *= kDown;
    ++exponent_;
  }
  // Restores the range of the mantissa after one operation, which takes one step at most.
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
