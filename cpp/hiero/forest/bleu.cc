#include "hiero/forest/bleu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

double bleu(const BleuCounts& counts) {
  double product = 1;
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    if (counts.matches[n] <= 0 || counts.totals[n] <= 0) return 0;
    product *= counts.matches[n] / counts.totals[n];
  }
  const double brevity = std::min(0.0, 1 - counts.reference_length / counts.length);
  static_assert(kBleuOrder == 4);
  return std::exp(brevity) * std::sqrt(std::sqrt(product));
}

double effective_length(std::span<const std::vector<std::string>> references, ReferenceLength kind,
                        double hypothesis_length) {
  double sum = 0;
  double count = 0;
  double shortest = std::numeric_limits<double>::infinity();
  double closest = std::numeric_limits<double>::infinity();
  for (const auto& reference : references) {
    if (reference.empty()) continue;
    const auto length = static_cast<double>(reference.size());
    sum += length;
    ++count;
    shortest = std::min(shortest, length);
    const double nearer = std::abs(length - hypothesis_length) - std::abs(closest - hypothesis_length);
    if (nearer < 0 || (nearer == 0 && length < closest)) closest = length;
  }
  if (count == 0) throw std::invalid_argument("references: all are empty");
  if (kind == ReferenceLength::kShortest) return shortest;
  return kind == ReferenceLength::kClosest ? closest : sum / count;
}

BleuCounts bleu_counts(std::span<const std::string> hypothesis,
                       std::span<const std::vector<std::string>> references, ReferenceLength kind) {
  using Ngrams = std::map<std::vector<std::string>, std::int64_t>;
  const auto count = [](std::span<const std::string> tokens, std::size_t n) {
    Ngrams ngrams;
    for (std::size_t i = 0; i + n <= tokens.size(); ++i)
      ++ngrams[std::vector<std::string>(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                                        tokens.begin() + static_cast<std::ptrdiff_t>(i + n))];
    return ngrams;
  };
  BleuCounts out;
  out.length = static_cast<double>(hypothesis.size());
  out.reference_length = effective_length(references, kind, out.length);
  for (std::size_t n = 1; n <= kBleuOrder; ++n) {
    Ngrams allowed;
    for (const auto& reference : references) {
      for (const auto& [ngram, times] : count(reference, n)) allowed[ngram] = std::max(allowed[ngram], times);
    }
    for (const auto& [ngram, times] : count(hypothesis, n)) {
      out.totals[n - 1] += static_cast<double>(times);
      const auto found = allowed.find(ngram);
      if (found != allowed.end()) out.matches[n - 1] += static_cast<double>(std::min(times, found->second));
    }
  }
  return out;
}

}  // namespace hiero
