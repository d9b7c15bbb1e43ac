#include "hiero/forest/big_unsigned.h"

#include <algorithm>

namespace hiero {

BigUnsigned::BigUnsigned(std::uint64_t value)
    : digits_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {
  trim();
}

BigUnsigned::BigUnsigned(std::vector<std::uint32_t> digits) : digits_(std::move(digits)) { trim(); }

void BigUnsigned::trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

BigUnsigned& BigUnsigned::operator+=(const BigUnsigned& other) {
  digits_.resize(std::max(digits_.size(), other.digits_.size()) + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    carry += digits_[i];
    if (i < other.digits_.size()) carry += other.digits_[i];
    digits_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  trim();
  return *this;
}

BigUnsigned operator*(const BigUnsigned& a, const BigUnsigned& b) {
  BigUnsigned out;
  out.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
      carry += out.digits_[i + j];
      if (j < b.digits_.size()) carry += std::uint64_t{a.digits_[i]} * b.digits_[j];
      out.digits_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  out.trim();
  return out;
}

}  // namespace hiero
