// What BLEU counts of a string, and a document's worth of it (Papineni et al. 2002).
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

// Counts that add up over sentences.
struct BleuCounts {
  double length = 0;
  double reference_length = 0;
  std::array<double, kBleuOrder> totals{};
  std::array<double, kBleuOrder> matches{};

  BleuCounts& operator+=(const BleuCounts& other);
};

// Brevity penalty times the geometric mean of the precisions of the first `orders` orders, from 0 to 1; 0 if
// one of them is 0 or has no total. Smoothing is a matter of the counts.
double bleu(const BleuCounts& counts, std::size_t orders = kBleuOrder);

// Of one sentence, with one added to matches and totals of n > 1 (Lin and Och 2004); 0 where no word matches.
double bleu_plus_one(BleuCounts counts);

enum class ReferenceLength { kShortest, kClosest, kAverage };

template <>
inline constexpr std::array<std::string_view, 3> kNames<ReferenceLength>{"shortest", "closest", "average"};

// The lengths of references that are not empty, which count as missing. Throws std::invalid_argument if all
// are.
std::vector<double> reference_lengths(std::span<const std::vector<std::string>> references);

// The effective one of these lengths for a hypothesis; ties of the closest go to the shorter.
double effective_length(std::span<const double> lengths, ReferenceLength kind, double hypothesis_length);

}  // namespace hiero
