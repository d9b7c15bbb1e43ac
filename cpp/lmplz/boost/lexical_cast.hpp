// Replaces Boost's header of this name: boost::lexical_cast from an integer to std::string only.
#pragma once

#include <concepts>
#include <string>

namespace boost {

template <std::same_as<std::string> Target>
Target lexical_cast(std::integral auto value) {
  return std::to_string(value);
}

}  // namespace boost
