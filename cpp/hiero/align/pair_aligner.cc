#include "hiero/align/pair_aligner.h"

#include <algorithm>

namespace hiero {
namespace {

// Sweeps over which the probabilities of links are added up. They begin where training ended: from no links
// they come to links that make slightly worse rules.
constexpr int kLastSweeps = 32;
// Sweeps before these for a pair that was not trained on.
constexpr int kFirstSweeps = 8;

}  // namespace

DirectionAligner::DirectionAligner(std::span<const FrozenDirection> samplers) {
  tables_.reserve(samplers.size());
  for (const FrozenDirection& sampler : samplers) {
    tables_.emplace_back(sampler.view(), AlignStage::kFertilities, 0);
    samplers_.emplace_back(tables_.back());
  }
}

void DirectionAligner::align(std::span<const WordId> source, std::span<const WordId> target, Starts starts,
                             std::uint64_t seed) {
  const std::size_t columns = source.size() + 1;
  probabilities_.assign(target.size() * columns, 0.0f);
  for (std::size_t k = 0; k < samplers_.size(); ++k) {
    tables_[k].fit(source.size());
    Random random{seed, k};
    if (starts.empty()) {
      drawn_.assign(target.size(), kNoLink);
    } else {
      drawn_.assign(starts[k].begin(), starts[k].end());
    }
    samplers_[k].begin(source, target, drawn_, false);
    for (int sweep = 0; starts.empty() && sweep < kFirstSweeps; ++sweep) samplers_[k].sweep(drawn_, random);
    for (int sweep = 0; sweep < kLastSweeps; ++sweep) samplers_[k].sweep(drawn_, random, probabilities_);
  }
  best_.assign(target.size(), kNoLink);
  for (std::size_t j = 0; j < target.size(); ++j) {
    const auto row = std::span(probabilities_).subspan(j * columns, columns);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    if (best < source.size()) best_[j] = static_cast<LinkPosition>(best);
  }
  const float scale = 1.0f / static_cast<float>(kLastSweeps * samplers_.size());
  for (float& probability : probabilities_) probability *= scale;
}

void PairAligner::align(std::span<const WordId> source, std::span<const WordId> target,
                        const std::array<DirectionAligner::Starts, 2>& starts, std::uint64_t seed) {
  sources_ = source.size();
  targets_ = target.size();
  links_ = {};
  if (source.empty() || target.empty()) return;
  forward_.align(source, target, starts[0], seed);
  backward_.align(target, source, starts[1], seed);
  links_ = symmetriser_.links(forward_.best(), backward_.best());
}

float PairAligner::probability(const AlignmentLink& link) const {
  const float there = forward_.probabilities()[link.target * (sources_ + 1) + link.source];
  const float back = backward_.probabilities()[link.source * (targets_ + 1) + link.target];
  return (there + back) / 2;
}

}  // namespace hiero
