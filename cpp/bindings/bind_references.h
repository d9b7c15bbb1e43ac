// Shared by what binds BLEU.
#pragma once

#include <vector>

#include "hiero/metrics/reference_set.h"

namespace hiero {

// Length, reference length, totals, matches.
std::vector<double> count_row(const BleuCounts& counts);

}  // namespace hiero
