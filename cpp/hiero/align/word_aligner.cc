#include "hiero/align/word_aligner.h"

#include <algorithm>
#include <span>
#include <utility>

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

std::size_t count_pairs(const Bitext& bitext, const PairSample& sample) {
  std::size_t count = 0;
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair)
    count += bitext.has_words(pair) && sample.has(pair);
  return count;
}

void check_basis(const ChainsFile& file, const ChainsBasis& expected) {
  const auto check = [&](std::uint64_t actual, std::uint64_t wanted, const char* of, const char* what) {
    if (actual == wanted) return;
    throw FormatError(file.path() + ": chains of " + of + std::to_string(actual) + what + ", expected " +
                      std::to_string(wanted));
  };
  const ChainsBasis& basis = file.basis();
  if (basis.bitext != expected.bitext) throw FormatError(file.path() + ": chains of another bitext");
  check(basis.seed, expected.seed, "seed ", "");
  check(basis.samplers, expected.samplers, "", " samplers");
  check(basis.pairs, expected.pairs, "other memory, for ", " pairs");
}

}  // namespace

WordAligner::WordAligner(const Bitext& bitext, const AlignOptions& options, const std::string& folder)
    : bitext_(bitext),
      options_(options),
      folder_(folder),
      sample_(sample_of(bitext, options)),
      pairs_(count_pairs(bitext, sample_)) {
  if (pairs_ == 0) throw FormatError("no sentence pairs to align");
}

std::uint64_t WordAligner::bytes_needed(const Bitext& bitext) {
  return bytes_of_words(bitext) + bytes_of_types(bitext);
}

std::vector<std::size_t> WordAligner::chains_of(const Shard& shard) const {
  std::vector<std::size_t> out;
  for (std::size_t chain = 0; chain < chain_count(); ++chain) {
    if (shard.has(chain)) out.push_back(chain);
  }
  return out;
}

ChainsBasis WordAligner::basis() const { return {options_.seed, samplers(), pairs_, bitext_.sum()}; }

// One chain after the other, so that only one needs memory for its counts.
std::size_t WordAligner::train(const AlignProgress& progress, const Shard& shard) {
  const DirectedBitext directed[2] = {{bitext_.source(), bitext_.target(), sample_},
                                      {bitext_.target(), bitext_.source(), sample_}};
  shard_ = shard;
  const std::vector<std::size_t> numbers = chains_of(shard);
  std::uint64_t done = 0;
  for (const std::size_t chain : numbers) {
    const std::size_t d = chain / samplers();
    const std::uint64_t seed = sampler_seed(options_.seed, d, chain % samplers());
    DirectionTrainer trainer(directed[d], seed, options_.threads, folder_);
    const auto sweeps = static_cast<std::uint64_t>(trainer.sweeps());
    for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
      trainer.sweep();
      if (progress) progress(++done, numbers.size() * sweeps);
    }
    const FrozenDirection& model = directions_[d].emplace_back(trainer.take_model(), folder_);
    const auto& links = links_.emplace_back(trainer.take_links());
    chains_.push_back({model.bytes(), links.items()});
  }
  return pairs_;
}

void WordAligner::save_chains(const std::string& path) const {
  ChainsFile::save(path, basis(), shard_, chains_);
}

// Returns whether a chain of a direction is about the words and sentences of the bitext.
bool WordAligner::fits(const ChainView& chain, std::size_t direction) const {
  const BitextSide& source = direction == 0 ? bitext_.source() : bitext_.target();
  const BitextSide& target = direction == 0 ? bitext_.target() : bitext_.source();
  const FrozenDirection model(chain.model);
  if (model.source_words() != source.word_count() || model.target_words() != target.word_count() ||
      chain.links.size() != target.begin(bitext_.pairs()))
    return false;
  for (std::size_t pair = 0; pair < bitext_.pairs(); ++pair) {
    if (!bitext_.has_words(pair) || !sample_.has(pair)) continue;
    const auto links = chain.links.subspan(target.begin(pair), target.length(pair));
    const auto is_link = [&](LinkPosition at) { return at == kNoLink || at < source.length(pair); };
    if (!std::ranges::all_of(links, is_link)) return false;
  }
  return true;
}

std::size_t WordAligner::take_chains(std::span<const std::string> paths) {
  if (paths.empty()) throw FormatError("no shards of word alignment");
  const ChainsBasis expected = basis();
  std::vector<const ChainsFile*> files(chain_count(), nullptr);
  std::vector<ChainView> chains(chain_count());
  std::uint64_t shards = 1;
  for (const std::string& path : paths) {
    const ChainsFile& file = files_.emplace_back(path);
    check_basis(file, expected);
    shards = std::max(shards, file.shard().count);
    auto next = file.chains().begin();
    for (const std::size_t chain : chains_of(file.shard())) {
      if (files[chain]) throw FormatError(path + ": chains that are in " + files[chain]->path() + " too");
      files[chain] = &file;
      chains[chain] = *next++;
      if (!fits(chains[chain], chain / samplers())) file.throw_damaged();
    }
  }
  for (std::size_t chain = 0; chain < chain_count(); ++chain) {
    if (files[chain]) continue;
    throw FormatError(paths.front() + ": shard " + std::to_string(chain % shards + 1) + " of " +
                      std::to_string(shards) + " is missing");
  }
  for (std::size_t chain = 0; chain < chain_count(); ++chain)
    directions_[chain / samplers()].emplace_back(chains[chain].model);
  chains_ = std::move(chains);
  return pairs_;
}

LinkLines WordAligner::lines(std::size_t first, std::size_t last, Heuristic heuristic) const {
  return lines_of(first, last, directions_, heuristic, options_.threads,
                  [&](std::size_t pair, PairAligner& aligner) {
                    std::array<std::vector<std::span<const LinkPosition>>, 2> starts;
                    for (std::size_t d = 0; d < starts.size() && sample_.has(pair); ++d) {
                      const BitextSide& side = d == 0 ? bitext_.target() : bitext_.source();
                      for (const ChainView& chain : std::span(chains_).subspan(d * samplers(), samplers()))
                        starts[d].push_back(chain.links.subspan(side.begin(pair), side.length(pair)));
                    }
                    aligner.align(bitext_.source().sentence(pair), bitext_.target().sentence(pair),
                                  {starts[0], starts[1]}, Random{options_.seed, pair}.next());
                  });
}

}  // namespace hiero
