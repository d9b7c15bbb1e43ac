// The main() of test programs with random cases, which take the number of cases and a seed as arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace hiero {

inline int run_cases(int argc, char** argv, std::size_t cases,
                     int (*run)(std::size_t cases, std::uint64_t seed)) {
  const auto argument = [&](int i, std::uint64_t default_value) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : default_value;
  };
  return run(static_cast<std::size_t>(argument(1, cases)), argument(2, 1));
}

}  // namespace hiero
