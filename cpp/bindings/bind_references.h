// Shared by what binds BLEU.
#pragma once

#include <string>
#include <vector>

#include "hiero/metrics/reference_set.h"

namespace hiero {

// Of "shortest", "closest" or "average". Throws std::invalid_argument for other names.
ReferenceLength reference_length_of(const std::string& name);

// Length, reference length, totals, matches.
std::vector<double> count_row(const BleuCounts& counts);

}  // namespace hiero
