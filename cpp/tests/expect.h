// Checks for the test programs: each failure prints a line, and failed() is what main() returns.
#pragma once

#include <cstdio>

namespace hiero {

inline int& failures() {
  static int count = 0;
  return count;
}

inline void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  ++failures();
}

template <class Error, class Work>
void expect_throws(const Work& work, const char* what) {
  try {
    work();
  } catch (const Error&) {
    return;
  }
  expect(false, what);
}

inline int failed() { return failures() == 0 ? 0 : 1; }

}  // namespace hiero
