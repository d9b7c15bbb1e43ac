#include "hiero/align/word_aligner.h"

#include <algorithm>
#include <span>

#include "hiero/base/error.h"
#include "hiero/base/parallel.h"

namespace hiero {
namespace {

// Sweeps over which the probabilities of links are added up, when the model is known. They begin where
// training ended: from no links at all they come to links that are slightly worse.
constexpr int kLastSweeps = 32;
// Distinguishes random numbers of the last sweeps from those of training.
constexpr std::uint64_t kLast = 1 << 20;

std::uint64_t sampler_seed(std::uint64_t seed, std::size_t direction, std::size_t sampler) {
  return Random{seed, direction, sampler}.next();
}

}  // namespace

// Aligns single pairs in one direction.
class WordAligner::PairAligner {
 public:
  explicit PairAligner(const Direction& direction) : direction_(direction) {
    for (const auto& tables : direction.tables) samplers_.emplace_back(*tables);
  }

  // Returns the most probable position of every target word, valid until the next call.
  std::span<const LinkPosition> links(std::size_t pair, std::uint64_t seed) {
    const auto source = direction_.bitext.source.sentence(pair);
    const auto target = direction_.bitext.target.sentence(pair);
    best_.assign(target.size(), kNoLink);
    if (direction_.bitext.is_empty(pair)) return best_;
    const std::size_t columns = source.size() + 1;
    probabilities_.assign(target.size() * columns, 0.0f);
    for (std::size_t k = 0; k < samplers_.size(); ++k) {
      const auto links = direction_.samplers[k]->links(pair);
      drawn_.assign(links.begin(), links.end());
      samplers_[k].begin(source, target, drawn_, false);
      Random random{seed, k, kLast, pair};
      for (int sweep = 0; sweep < kLastSweeps; ++sweep) samplers_[k].sweep(drawn_, random, probabilities_);
    }
    for (std::size_t j = 0; j < target.size(); ++j) {
      const auto row = std::span(probabilities_).subspan(j * columns, columns);
      const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
      if (best < source.size()) best_[j] = static_cast<LinkPosition>(best);
    }
    return best_;
  }

 private:
  const Direction& direction_;
  std::vector<SentenceSampler> samplers_;
  std::vector<float> probabilities_;
  std::vector<LinkPosition> drawn_, best_;
};

WordAligner::WordAligner(const Bitext& bitext, const AlignOptions& options, const std::string& folder)
    : bitext_(bitext),
      options_(options),
      directions_{Direction{{bitext.source(), bitext.target()}, {}, {}, {}},
                  Direction{{bitext.target(), bitext.source()}, {}, {}, {}}} {
  if (!bitext.can_be_aligned()) throw FormatError("no sentence pairs to align");
  for (std::size_t d = 0; d < directions_.size(); ++d) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(options.samplers); ++k) {
      directions_[d].samplers.push_back(std::make_unique<DirectionTrainer>(
          directions_[d].bitext, sampler_seed(options.seed, d, k), options_.threads, folder));
    }
  }
}

void WordAligner::train(const AlignProgress& progress) {
  std::uint64_t all = 0;
  for (const Direction& direction : directions_) {
    for (const auto& sampler : direction.samplers) all += static_cast<std::uint64_t>(sampler->sweeps());
  }
  std::uint64_t done = 0;
  for (Direction& direction : directions_) {
    for (const auto& sampler : direction.samplers) {
      for (int sweep = 0; sweep < sampler->sweeps(); ++sweep) {
        sampler->sweep();
        if (progress) progress(++done, all);
      }
      direction.models.push_back(std::make_unique<DirectionModel>(sampler->take_model()));
      direction.tables.push_back(std::make_unique<DirectionTables>(
          *direction.models.back(), AlignStage::kFertilities, sampler->longest()));
    }
  }
}

std::string WordAligner::links_text(std::size_t first, std::size_t last, Heuristic heuristic) const {
  struct Worker {
    PairAligner forward, backward;
    Symmetriser symmetriser;
  };
  std::vector<Worker> workers;
  for (std::size_t k = 0; k < options_.threads; ++k)
    workers.push_back({PairAligner(directions_[0]), PairAligner(directions_[1]), Symmetriser(heuristic)});
  const std::size_t shards = (last - first + kShardPairs - 1) / kShardPairs;
  std::vector<std::string> texts(shards);
  parallel_for(shards, workers.size(), [&](std::size_t shard, std::size_t k) {
    Worker& worker = workers[k];
    std::string& text = texts[shard];
    const std::size_t begin = first + shard * kShardPairs;
    for (std::size_t pair = begin; pair < std::min(last, begin + kShardPairs); ++pair) {
      const auto forward = worker.forward.links(pair, options_.seed);
      const auto backward = worker.backward.links(pair, options_.seed);
      const std::size_t start = text.size();
      for (const AlignmentLink& link : worker.symmetriser.links(forward, backward)) {
        if (text.size() > start) text += ' ';
        text += std::to_string(link.source);
        text += '-';
        text += std::to_string(link.target);
      }
      text += '\n';
    }
  });
  std::string out;
  for (const std::string& text : texts) out += text;
  return out;
}

}  // namespace hiero
