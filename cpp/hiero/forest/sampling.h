// Samples derivations of a forest from their distribution, from the root down: each edge by its share in its
// head.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hiero/forest/derivation.h"
#include "hiero/forest/distribution.h"

namespace hiero {

// Returns `count` independent derivations of the forest of `p`, scored by `scores`; the same for the same
// seed on every platform.
std::vector<Derivation> sample(const std::shared_ptr<const Forest>& forest, std::span<const double> scores,
                               const Distribution& p, std::size_t count, std::uint64_t seed);

}  // namespace hiero
