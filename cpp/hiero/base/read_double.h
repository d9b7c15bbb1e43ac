// Numbers as std::from_chars reads them, also where the standard library reads only integers (libc++ 18).
#pragma once

#include <charconv>

namespace hiero {

// Reads the longest decimal number at the beginning of a text; see std::from_chars.
std::from_chars_result read_double(const char* begin, const char* end, double& value);

// The same by strtod() of the C locale, for such libraries.
std::from_chars_result read_double_by_strtod(const char* begin, const char* end, double& value);

}  // namespace hiero
