// Joins strings with a separator between them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hiero {

inline std::string join_strings(std::span<const std::string> strings, std::string_view separator = " ") {
  std::string text;
  for (const std::string& string : strings) {
    if (!text.empty()) text += separator;
    text += string;
  }
  return text;
}

}  // namespace hiero
