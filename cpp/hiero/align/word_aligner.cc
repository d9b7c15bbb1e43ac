#include "hiero/align/word_aligner.h"

#include <algorithm>
#include <span>

#include "hiero/align/direction_trainer.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

std::uint64_t sampler_seed(std::uint64_t seed, std::size_t direction, std::size_t sampler) {
  return Random{seed, direction, sampler}.next();
}

// Returns the number of pairs if there is none.
std::size_t first_with_words(const Bitext& bitext) {
  std::size_t pair = 0;
  while (pair < bitext.pairs() && !bitext.has_words(pair)) ++pair;
  return pair;
}

std::uint64_t bytes_of_words(const Bitext& bitext) {
  return WordAligner::kBytesPerWord *
         std::max(bitext.source().begin(bitext.pairs()), bitext.target().begin(bitext.pairs()));
}

std::uint64_t bytes_of_types(const Bitext& bitext) {
  return WordAligner::kBytesPerType * (bitext.source().word_count() + bitext.target().word_count());
}

// Samples the pairs for whose words there is memory besides that for all types.
PairSample sample_of(const Bitext& bitext, const AlignOptions& options) {
  const std::uint64_t left = options.memory - std::min(options.memory, bytes_of_types(bitext));
  const auto needed = static_cast<double>(std::max<std::uint64_t>(bytes_of_words(bitext), 1));
  return {options.seed, static_cast<double>(left) / needed, first_with_words(bitext)};
}

}  // namespace

WordAligner::WordAligner(const Bitext& bitext, const AlignOptions& options, const std::string& folder)
    : bitext_(bitext), options_(options), folder_(folder), sample_(sample_of(bitext, options)) {
  if (first_with_words(bitext) == bitext.pairs()) throw FormatError("no sentence pairs to align");
}

std::uint64_t WordAligner::bytes_needed(const Bitext& bitext) {
  return bytes_of_words(bitext) + bytes_of_types(bitext);
}

// One sampler after the other, so that only one needs memory for its counts.
std::size_t WordAligner::train(const AlignProgress& progress) {
  const DirectedBitext directed[2] = {{bitext_.source(), bitext_.target(), sample_},
                                      {bitext_.target(), bitext_.source(), sample_}};
  const auto samplers = static_cast<std::size_t>(options_.samplers);
  std::uint64_t done = 0;
  std::size_t pairs = 0;
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
      pairs = trainer.pairs();
    }
  }
  return pairs;
}

LinkLines WordAligner::lines(std::size_t first, std::size_t last, Heuristic heuristic) const {
  return lines_of(first, last, directions_, heuristic, options_.threads,
                  [&](std::size_t pair, PairAligner& aligner) {
                    std::array<std::vector<std::span<const LinkPosition>>, 2> starts;
                    for (std::size_t d = 0; d < starts.size() && sample_.has(pair); ++d) {
                      const BitextSide& side = d == 0 ? bitext_.target() : bitext_.source();
                      for (const auto& links : links_[d])
                        starts[d].push_back(links.items().subspan(side.begin(pair), side.length(pair)));
                    }
                    aligner.align(bitext_.source().sentence(pair), bitext_.target().sentence(pair),
                                  {starts[0], starts[1]}, Random{options_.seed, pair}.next());
                  });
}

}  // namespace hiero
