#include "hiero/align/word_aligner.h"

#include <span>

#include "hiero/align/direction_trainer.h"
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
}

// One sampler after the other, so that only one needs memory for its counts.
void WordAligner::train(const AlignProgress& progress) {
  const DirectedBitext directed[2] = {{bitext_.source(), bitext_.target()},
                                      {bitext_.target(), bitext_.source()}};
  const auto samplers = static_cast<std::size_t>(options_.samplers);
  std::uint64_t done = 0;
  for (std::size_t d = 0; d < directions_.size(); ++d) {
    for (std::size_t k = 0; k < samplers; ++k) {
      DirectionTrainer trainer(directed[d], sampler_seed(options_.seed, d, k), options_.threads, folder_);
      const auto sweeps = static_cast<std::uint64_t>(trainer.sweeps());
      for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
        trainer.sweep();
        if (progress) progress(++done, directions_.size() * samplers * sweeps);
      }
      directions_[d].emplace_back(trainer.take_model(), folder_);
      links_[d].push_back(trainer.take_links());
    }
  }
}

LinkLines WordAligner::lines(std::size_t first, std::size_t last, Heuristic heuristic) const {
  return lines_of(first, last, directions_, heuristic, options_.threads,
                  [&](std::size_t pair, PairAligner& aligner) {
                    std::array<std::vector<std::span<const LinkPosition>>, 2> starts;
                    for (std::size_t d = 0; d < starts.size(); ++d) {
                      const BitextSide& side = d == 0 ? bitext_.target() : bitext_.source();
                      for (const auto& links : links_[d])
                        starts[d].push_back(links.items().subspan(side.begin(pair), side.length(pair)));
                    }
                    aligner.align(bitext_.source().sentence(pair), bitext_.target().sentence(pair),
                                  {starts[0], starts[1]}, Random{options_.seed, pair}.next());
                  });
}

}  // namespace hiero
