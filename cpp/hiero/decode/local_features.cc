#include "hiero/decode/local_features.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hiero {
namespace {

constexpr std::size_t kNamed = 10;  // names in a message; those of more features are left out

}  // namespace

std::string described(const std::vector<std::string>& names) {
  std::string text = "local features ";
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() <= kNamed ? text : text + ", ... (" + std::to_string(names.size()) + ")";
}

void check_rows(const SparseRows& rows, std::size_t expected, const std::vector<std::string>& names) {
  const bool shape = rows.offsets.size() == expected + 1 && rows.offsets.front() == 0 &&
                     rows.offsets.back() == static_cast<std::int64_t>(rows.columns.size()) &&
                     rows.columns.size() == rows.values.size() &&
                     std::is_sorted(rows.offsets.begin(), rows.offsets.end());
  if (!shape) {
    throw std::invalid_argument(described(names) + ": expected a sparse matrix of " +
                                std::to_string(expected) + " rows");
  }
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    const std::int32_t column = rows.columns[i];
    if (column < 0 || static_cast<std::size_t>(column) >= names.size()) {
      throw std::invalid_argument(described(names) + ": column " + std::to_string(column) + " of " +
                                  std::to_string(names.size()));
    }
    if (!std::isfinite(rows.values[i])) {
      throw std::invalid_argument("local feature " + names[static_cast<std::size_t>(column)] +
                                  ": expected finite values, got " + std::to_string(rows.values[i]));
    }
  }
}

}  // namespace hiero
