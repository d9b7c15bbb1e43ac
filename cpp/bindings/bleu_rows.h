// BLEU's statistics as rows of ten numbers: length, effective reference length, n-gram totals and clipped
// matches for n = 1 to 4.
#pragma once

#include <algorithm>
#include <array>

#include "bindings.h"
#include "hiero/metrics/bleu.h"

namespace hiero {

inline constexpr std::size_t kBleuColumns = 2 + 2 * kBleuOrder;

inline std::array<double, kBleuColumns> count_row(const BleuCounts& counts) {
  std::array<double, kBleuColumns> row{counts.length, counts.reference_length};
  std::ranges::copy(counts.totals, row.begin() + 2);
  std::ranges::copy(counts.matches, row.begin() + 2 + kBleuOrder);
  return row;
}

inline BleuCounts counts_of_row(const double* row) {
  BleuCounts counts;
  counts.length = row[0];
  counts.reference_length = row[1];
  std::copy_n(row + 2, kBleuOrder, counts.totals.begin());
  std::copy_n(row + 2 + kBleuOrder, kBleuOrder, counts.matches.begin());
  return counts;
}

inline Array<double> count_array(const BleuCounts& counts) {
  const auto row = count_row(counts);
  return as_array(std::vector<double>(row.begin(), row.end()));
}

}  // namespace hiero
