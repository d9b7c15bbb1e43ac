#include "hiero/base/read_double.h"

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <algorithm>
#include <cerrno>
#include <string>
#include <version>

namespace hiero {

std::from_chars_result read_double(const char* begin, const char* end, double& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(begin, end, value);
#else
  return read_double_by_strtod(begin, end, value);
#endif
}

std::from_chars_result read_double_by_strtod(const char* begin, const char* end, double& value) {
  static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
  // strtod() reads white space, a plus and hexadecimal numbers as well, which are none of ours.
  const bool is_signed = begin < end && *begin == '-';
  const char* const first = begin + is_signed;
  if (first == end || !((*first >= '0' && *first <= '9') || *first == '.' || *first == 'i' || *first == 'I' ||
                        *first == 'n' || *first == 'N'))
    return {begin, std::errc::invalid_argument};
  const char* const last =
      *first == '0' ? std::find_if(first, end, [](char c) { return c == 'x' || c == 'X'; }) : end;
  const std::string text(begin, last);
  char* read = nullptr;
  errno = 0;
  const double number = strtod_l(text.c_str(), &read, kPlain);
  const int error = errno;
  const char* const read_end = begin + (read - text.c_str());
  if (read_end == begin) return {begin, std::errc::invalid_argument};
  // A number so small that it has less than full precision is in range.
  if (error == ERANGE && (number == 0 || number > 1 || number < -1))
    return {read_end, std::errc::result_out_of_range};
  value = number;
  return {read_end, std::errc()};
}

}  // namespace hiero
