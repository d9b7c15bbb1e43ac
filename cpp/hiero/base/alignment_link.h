// A link of a word alignment: a source and a target position, both counted from 0.
#pragma once

#include <cstdint>

namespace hiero {

struct AlignmentLink {
  std::uint32_t source;
  std::uint32_t target;
};

}  // namespace hiero
