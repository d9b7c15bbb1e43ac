// BLEU and the statistics that it is computed from (Papineni et al. 2002).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/setting.h"

namespace hiero {

inline constexpr std::size_t kBleuOrder = 4;

// Statistics that add up over sentences.
struct BleuCounts {
  double length = 0;
  double reference_length = 0;
  std::array<double, kBleuOrder> totals{};
  std::array<double, kBleuOrder> matches{};

  BleuCounts& operator+=(const BleuCounts& other);
};

// Returns the brevity penalty times the geometric mean of the precisions of the first `orders` orders, from 0
// to 1; 0 if one of them is 0 or undefined. There is no smoothing other than that of the counts.
double bleu(const BleuCounts& counts, std::size_t orders = kBleuOrder);

// Returns BLEU of one sentence with 1 added to matches and totals of n > 1 (Lin and Och 2004); 0 where no
// word matches.
double bleu_plus_one(BleuCounts counts);

enum class ReferenceLength { kShortest, kClosest, kAverage };

template <>
inline constexpr std::array<std::string_view, 3> kNames<ReferenceLength>{"shortest", "closest", "average"};

// Returns the lengths of the references but for empty ones, which count as missing. Throws
// std::invalid_argument if all are empty.
std::vector<double> reference_lengths(std::span<const std::vector<std::string>> references);

// Returns the effective reference length for a hypothesis; ties of the closest go to the shorter one.
double effective_length(std::span<const double> lengths, ReferenceLength kind, double hypothesis_length);

}  // namespace hiero
