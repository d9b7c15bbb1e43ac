// Derivations drawn from a distribution over a forest's derivations, from the root down: each edge by its
// share in its head.
#pragma once

#include <cstdint>
#include <vector>

#include "hiero/forest/distribution.h"

namespace hiero {

// Preorders of `count` independent derivations; the same for the same seed on every platform.
std::vector<std::vector<EdgeIndex>> sample(const Distribution& p, std::size_t count, std::uint64_t seed);

}  // namespace hiero
