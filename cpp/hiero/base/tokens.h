// Splits a line of text at ASCII white space.
//
// How to use:
//   for (auto token = next_token(line); !token.empty(); token = next_token(line)) ...
#pragma once

#include <string_view>

namespace hiero {

inline constexpr std::string_view kSpace = " \t\n\v\f\r";

// Removes the next token from the front of the line and returns it, or an empty token at the end.
inline std::string_view next_token(std::string_view& line) {
  const std::size_t start = line.find_first_not_of(kSpace);
  if (start == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(start);
  const std::string_view token = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(token.size());
  return token;
}

}  // namespace hiero
