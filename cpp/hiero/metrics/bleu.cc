#include "hiero/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace hiero {

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  length += other.length;
  reference_length += other.reference_length;
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    totals[n] += other.totals[n];
    matches[n] += other.matches[n];
  }
  return *this;
}

double bleu(const BleuCounts& counts, std::size_t orders) {
  double product = 1;
  for (std::size_t n = 0; n < orders; ++n) {
    if (counts.matches[n] <= 0 || counts.totals[n] <= 0) return 0;
    product *= counts.matches[n] / counts.totals[n];
  }
  const double brevity = std::min(0.0, 1 - counts.reference_length / counts.length);
  const double mean =
      orders == 4 ? std::sqrt(std::sqrt(product)) : std::pow(product, 1 / static_cast<double>(orders));
  return std::exp(brevity) * mean;
}

double bleu_plus_one(BleuCounts counts) {
  for (std::size_t n = 1; n < kBleuOrder; ++n) {
    ++counts.totals[n];
    ++counts.matches[n];
  }
  return bleu(counts);
}

std::vector<double> reference_lengths(std::span<const std::vector<std::string>> references) {
  std::vector<double> lengths;
  for (const auto& reference : references) {
    if (!reference.empty()) lengths.push_back(static_cast<double>(reference.size()));
  }
  if (lengths.empty()) throw std::invalid_argument("references: all are empty");
  return lengths;
}

double effective_length(std::span<const double> lengths, ReferenceLength kind, double hypothesis_length) {
  switch (kind) {
    case ReferenceLength::kShortest:
      return *std::min_element(lengths.begin(), lengths.end());
    case ReferenceLength::kAverage:
      return std::accumulate(lengths.begin(), lengths.end(), 0.0) / static_cast<double>(lengths.size());
    case ReferenceLength::kClosest:
      break;
  }
  return *std::min_element(lengths.begin(), lengths.end(), [&](double a, double b) {
    const double farther = std::abs(a - hypothesis_length) - std::abs(b - hypothesis_length);
    return farther < 0 || (farther == 0 && a < b);
  });
}

}  // namespace hiero
