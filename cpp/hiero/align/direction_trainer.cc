#include "hiero/align/direction_trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hiero/base/parallel.h"

namespace hiero {
namespace {

constexpr std::size_t kGroups = 16;
// Threads take longer to start than one takes to count the links of so many words.
constexpr std::size_t kFewWords = 10'000;
// As in the authors' program: the sweeps of the last stage are this, divided by the root of the number of
// pairs. Those of the other stages are a quarter of it.
constexpr double kSweeps = 5000;
// The share of words without a link at first, when links are drawn blindly.
constexpr float kUnlinked = 0.2f;

int last_sweeps(std::size_t pairs) {
  return std::max(2, static_cast<int>(std::lround(kSweeps / std::sqrt(static_cast<double>(pairs)))));
}

}  // namespace

DirectionTrainer::DirectionTrainer(const DirectedBitext& bitext, std::uint64_t seed, std::size_t threads,
                                   const std::string& folder)
    : bitext_(bitext),
      seed_(seed),
      threads_(threads),
      links_(folder),
      model_(bitext.source.word_count(), bitext.target.word_count()),
      sums_(bitext.source.word_count(), bitext.target.word_count()) {
  const std::size_t all = bitext.source.sentences();
  links_.resize(bitext.target.begin(all));
  Random random{seed};
  for (std::size_t pair = 0; pair < all; ++pair) {
    if (!bitext.has(pair)) continue;
    const std::size_t length = bitext.source.length(pair);
    longest_ = std::max(longest_, length);
    ++pairs_;
    const auto first = links_.items().begin() + static_cast<std::ptrdiff_t>(bitext.target.begin(pair));
    for (std::size_t j = 0; j < bitext.target.length(pair); ++j) {
      const bool linked = random.uniform() >= kUnlinked;
      first[static_cast<std::ptrdiff_t>(j)] =
          linked ? static_cast<LinkPosition>(random.below(length)) : kNoLink;
    }
  }
  count(0, all, {});
}

int DirectionTrainer::sweeps() const {
  const int last = last_sweeps(pairs_);
  return std::max(2, last / 4) + std::max(1, last / 4) + last;
}

void DirectionTrainer::sweep() {
  const int last = last_sweeps(pairs_);
  const AlignStage stage = done_ < std::max(2, last / 4) ? AlignStage::kLexical
                           : done_ < sweeps() - last     ? AlignStage::kJumps
                                                         : AlignStage::kFertilities;
  if (stage == AlignStage::kFertilities) count_fertilities();
  DirectionTables tables(model_.view(), stage, longest_);
  const std::size_t all = bitext_.source.sentences();
  std::vector<LinkPosition> old;
  for (std::size_t group = 0; group < kGroups; ++group) {
    const std::size_t first = all * group / kGroups;
    const std::size_t last_of_group = all * (group + 1) / kGroups;
    const auto links = links_.items().subspan(
        bitext_.target.begin(first), bitext_.target.begin(last_of_group) - bitext_.target.begin(first));
    old.assign(links.begin(), links.end());
    draw(first, last_of_group, tables);
    count(first, last_of_group, old);
    if (stage != AlignStage::kLexical) tables.update_jumps();
  }
  ++done_;
  if (stage == AlignStage::kFertilities) add_to_sums();
}

// Returns the number of threads for counts of so many words.
std::size_t DirectionTrainer::counters(std::size_t words) const { return words < kFewWords ? 1 : threads_; }

// Every thread adds the counts of its own target words.
void DirectionTrainer::add_to_sums() {
  const std::size_t threads = counters(model_.links.size());
  parallel_for(threads, threads, [&](std::size_t part, std::size_t) {
    for (std::size_t word = part; word < model_.links.size(); word += threads) {
      const auto target = static_cast<WordId>(word);
      model_.links.row(target).visit([&](WordId source, std::uint32_t count) {
        sums_.links.add(target, source, static_cast<std::int32_t>(count));
      });
    }
  });
  for (std::size_t word = 0; word < sums_.totals.size(); ++word) sums_.totals[word] += model_.totals[word];
}

DirectionModel DirectionTrainer::take_model() {
  count_fertilities();
  sums_.jumps = model_.jumps;
  sums_.fertilities = std::move(model_.fertilities);
  model_ = {0, 0};
  return std::move(sums_);
}

// Draws the links of the pairs from `first` to `last`.
void DirectionTrainer::draw(std::size_t first, std::size_t last, const DirectionTables& tables) {
  const std::size_t shards = (last - first + kShardPairs - 1) / kShardPairs;
  std::vector<SentenceSampler> samplers(threads_, SentenceSampler(tables));
  parallel_for(shards, threads_, [&](std::size_t shard, std::size_t worker) {
    const std::size_t begin = first + shard * kShardPairs;
    Random random{seed_, static_cast<std::uint64_t>(done_) + 1, begin};
    for (std::size_t pair = begin; pair < std::min(last, begin + kShardPairs); ++pair) {
      if (!bitext_.has(pair)) continue;
      const auto links = links_.items().subspan(bitext_.target.begin(pair), bitext_.target.length(pair));
      samplers[worker].begin(bitext_.source.sentence(pair), bitext_.target.sentence(pair), links, true);
      samplers[worker].sweep(links, random);
    }
  });
}

// Counts the links of the pairs from `first` to `last`, in place of the old ones, if there are any. Every
// thread reads all of them, and changes the counts of its own words.
void DirectionTrainer::count(std::size_t first, std::size_t last, std::span<const LinkPosition> old) {
  const std::size_t begin = bitext_.target.begin(first);
  const std::size_t threads = counters(bitext_.target.begin(last) - begin);
  std::vector<JumpCounts> jumps(threads);
  parallel_for(threads, threads, [&](std::size_t part, std::size_t) {
    const auto is_own = [&](WordId word) { return word % threads == part; };
    for (std::size_t pair = first; pair < last; ++pair) {
      if (!bitext_.has(pair)) continue;
      const auto source = bitext_.source.sentence(pair);
      const auto target = bitext_.target.sentence(pair);
      const auto now = links(pair);
      const auto before = old.empty() ? old : old.subspan(bitext_.target.begin(pair) - begin, target.size());
      const auto word_of = [&](LinkPosition link) {
        return link == kNoLink ? BitextSide::kEmptyWord : source[link];
      };
      if (pair % threads == part) {
        jumps[part].add(now, source.size(), 1);
        if (!old.empty()) jumps[part].add(before, source.size(), -1);
      }
      for (std::size_t j = 0; j < target.size(); ++j) {
        const WordId word = word_of(now[j]);
        if (!old.empty()) {
          const WordId word_before = word_of(before[j]);
          if (word == word_before) continue;
          if (is_own(target[j])) model_.links.add(target[j], word_before, -1);
          if (is_own(word_before)) --model_.totals[word_before];
        }
        if (is_own(target[j])) model_.links.add(target[j], word, 1);
        if (is_own(word)) ++model_.totals[word];
      }
    }
  });
  for (const JumpCounts& each : jumps) model_.jumps.add(each);
}

void DirectionTrainer::count_fertilities() {
  std::ranges::fill(model_.fertilities, Fertilities{});
  const std::size_t threads = counters(bitext_.source.begin(bitext_.source.sentences()));
  parallel_for(threads, threads, [&](std::size_t part, std::size_t) {
    std::vector<std::uint32_t> linked;
    for (std::size_t pair = 0; pair < bitext_.source.sentences(); ++pair) {
      if (!bitext_.has(pair)) continue;
      const auto source = bitext_.source.sentence(pair);
      linked.assign(source.size(), 0);
      for (const LinkPosition link : links(pair)) {
        if (link != kNoLink) ++linked[link];
      }
      for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] % threads != part) continue;
        ++model_.fertilities[source[i]][std::min<std::size_t>(linked[i], kMostLinks)];
      }
    }
  });
}

}  // namespace hiero
