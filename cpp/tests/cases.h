// main() of the test programs that take a number of cases and a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace hiero {

inline int run_cases(int argc, char** argv, std::size_t cases,
                     int (*run)(std::size_t cases, std::uint64_t seed)) {
  const auto argument = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  return run(static_cast<std::size_t>(argument(1, cases)), argument(2, 1));
}

}  // namespace hiero
