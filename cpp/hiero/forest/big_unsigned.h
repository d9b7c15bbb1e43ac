// Natural numbers of any size with sums and products, for counting derivations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiero {

class BigUnsigned {
 public:
  BigUnsigned() = default;
  explicit BigUnsigned(std::uint64_t value);
  // Takes digits to the base 2^32, least first.
  explicit BigUnsigned(std::vector<std::uint32_t> digits);

  BigUnsigned& operator+=(const BigUnsigned& other);
  friend BigUnsigned operator*(const BigUnsigned& a, const BigUnsigned& b);
  friend bool operator==(const BigUnsigned&, const BigUnsigned&) = default;

  bool is_zero() const { return digits_.empty(); }
  std::span<const std::uint32_t> digits() const { return digits_; }

 private:
  void trim();

  std::vector<std::uint32_t> digits_;  // least first, the last one not 0
};

}  // namespace hiero
