#include "hiero/align/word_aligner.h"

#include <span>

#include "hiero/base/error.h"

namespace hiero {
namespace {

std::uint64_t sampler_seed(std::uint64_t seed, std::size_t direction, std::size_t sampler) {
  return Random{seed, direction, sampler}.next();
}

}  // namespace

WordAligner::WordAligner(const Bitext& bitext, const AlignOptions& options, const std::string& folder)
    : bitext_(bitext), options_(options), folder_(folder) {
  if (!bitext.can_be_aligned()) throw FormatError("no sentence pairs to align");
  const DirectedBitext directed[2] = {{bitext.source(), bitext.target()}, {bitext.target(), bitext.source()}};
  for (std::size_t d = 0; d < trainers_.size(); ++d) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(options.samplers); ++k) {
      trainers_[d].push_back(std::make_unique<DirectionTrainer>(directed[d], sampler_seed(options.seed, d, k),
                                                                options.threads, folder));
    }
  }
}

void WordAligner::train(const AlignProgress& progress) {
  std::uint64_t all = 0;
  for (const auto& trainers : trainers_) {
    for (const auto& trainer : trainers) all += static_cast<std::uint64_t>(trainer->sweeps());
  }
  std::uint64_t done = 0;
  for (std::size_t d = 0; d < trainers_.size(); ++d) {
    for (const auto& trainer : trainers_[d]) {
      for (int sweep = 0; sweep < trainer->sweeps(); ++sweep) {
        trainer->sweep();
        if (progress) progress(++done, all);
      }
      directions_[d].emplace_back(trainer->take_model(), folder_);
    }
  }
}

LinkLines WordAligner::lines(std::size_t first, std::size_t last, Heuristic heuristic) const {
  return lines_of(first, last, directions_, heuristic, options_.threads,
                  [&](std::size_t pair, PairAligner& aligner) {
                    std::array<std::vector<std::span<const LinkPosition>>, 2> starts;
                    for (std::size_t d = 0; d < starts.size(); ++d) {
                      for (const auto& trainer : trainers_[d]) starts[d].push_back(trainer->links(pair));
                    }
                    aligner.align(bitext_.source().sentence(pair), bitext_.target().sentence(pair),
                                  {starts[0], starts[1]}, Random{options_.seed, pair}.next());
                  });
}

}  // namespace hiero
