// Word alignment: sampling against all links of small pairs, and counts against plain ones.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "align_cases.h"
#include "expect.h"
#include "hiero/align/direction_trainer.h"
#include "hiero/align/sentence_sampler.h"
#include "hiero/align/symmetrise.h"
#include "hiero/align/word_aligner.h"
#include "hiero/base/error.h"
#include "hiero/base/parallel.h"

namespace hiero {
namespace {

// Sets of links of a pair, in the order of a number with a digit for each target word.
std::vector<Links> all_links(std::size_t source, std::size_t target) {
  std::vector<Links> out{{}};
  for (std::size_t j = 0; j < target; ++j) {
    std::vector<Links> longer;
    for (const Links& links : out) {
      for (std::size_t i = 0; i <= source; ++i) {
        longer.push_back(links);
        longer.back().push_back(i == source ? kNoLink : static_cast<LinkPosition>(i));
      }
    }
    out = longer;
  }
  return out;
}

void test_link_counts() {
  std::mt19937 rng(1);
  LinkCounts counts(3);
  std::map<std::pair<WordId, WordId>, std::uint32_t> plain;
  for (int k = 0; k < 20000; ++k) {
    const WordId target = rng() % 3;
    const WordId source = rng() % 300;
    std::uint32_t& count = plain[{target, source}];
    const std::int32_t change = count > 0 && rng() % 2 ? -1 : 1;
    count += static_cast<std::uint32_t>(change);
    counts.add(target, source, change);
  }
  std::size_t positive = 0;
  for (const auto& [words, count] : plain) {
    expect(counts.row(words.first).count(words.second) == count, "a count");
    positive += count > 0;
  }
  expect(counts.row(0).count(1000) == 0, "a pair that was never linked");
  for (WordId target = 0; target < 3; ++target) {
    counts.row(target).visit([&](WordId source, std::uint32_t count) {
      expect(plain.at({target, source}) == count && count > 0, "a count that is visited");
      --positive;
    });
  }
  expect(positive == 0, "all counts are visited");
}

// Every word counts the jumps to and from its link, or that over it.
void test_jumps() {
  std::mt19937 rng(2);
  JumpCounts all;
  std::map<int, std::int64_t> plain;
  for (int k = 0; k < 300; ++k) {
    const std::size_t source = 1 + rng() % (k % 10 ? 8 : 300);
    Links links;
    for (std::size_t j = 0; j < 1 + rng() % 8; ++j)
      links.push_back(rng() % 3 ? static_cast<LinkPosition>(rng() % source) : kNoLink);
    const std::int64_t weight = k % 4 ? 1 : -1;
    JumpCounts one;
    one.add(links, source, weight);
    all.add(one);
    for (std::size_t j = 0; j < links.size(); ++j) {
      int before = -1;
      int behind = static_cast<int>(source);
      for (std::size_t i = 0; i < j; ++i) before = links[i] == kNoLink ? before : links[i];
      for (std::size_t i = links.size(); --i > j;) behind = links[i] == kNoLink ? behind : links[i];
      const auto jump = [&](int distance) {
        plain[std::clamp(distance, -JumpCounts::kFarthest, JumpCounts::kFarthest)] += weight;
      };
      if (links[j] == kNoLink) {
        jump(behind - before);
      } else {
        jump(links[j] - before);
        jump(behind - links[j]);
      }
    }
  }
  std::int64_t total = 0;
  for (int distance = -JumpCounts::kFarthest; distance <= JumpCounts::kFarthest; ++distance) {
    expect(all.count(distance) == plain[distance], "jumps by a distance");
    total += plain[distance];
  }
  expect(all.total() == total, "all jumps");
}

// The probability of links but for a factor, by the definition.
double weight(const DirectionModel& model, AlignStage stage, const std::vector<WordId>& source,
              const std::vector<WordId>& target, const Links& links) {
  const auto lexical = [&](WordId s, WordId t) {
    return (model.links.row(t).count(s) + 0.001) / std::max(model.totals[s], 1u);
  };
  const auto jump = [&](int distance) { return model.jumps.count(distance) + 0.5; };
  const double all_jumps = static_cast<double>(model.jumps.total()) + 0.5 * 201;
  double product = 1;
  int before = -1;
  std::vector<std::size_t> fertilities(source.size(), 0);
  for (std::size_t j = 0; j < target.size(); ++j) {
    if (links[j] == kNoLink) {
      product *= lexical(0, target[j]);
      product *= stage == AlignStage::kLexical ? 0.25 * static_cast<double>(source.size()) : 0.2 * all_jumps;
      continue;
    }
    product *= lexical(source[links[j]], target[j]);
    if (stage == AlignStage::kLexical) continue;
    product *= jump(links[j] - before);
    before = links[j];
    if (stage == AlignStage::kJumps) continue;
    const std::size_t n = std::min<std::size_t>(++fertilities[links[j]], 7);
    const auto& counts = model.fertilities[source[links[j]]];
    product *= n == 7 ? 1e-10 : (counts[n] + 0.5) / (counts[n - 1] + 0.5);
  }
  if (stage != AlignStage::kLexical) product *= jump(static_cast<int>(source.size()) - before);
  return product;
}

void test_sampling() {
  std::mt19937 rng(3);
  for (const AlignStage stage : {AlignStage::kLexical, AlignStage::kJumps, AlignStage::kFertilities}) {
    for (int k = 0; k < 6; ++k) {
      const DirectionModel model = random_model(rng);
      std::vector<WordId> source(1 + rng() % 3);
      std::vector<WordId> target(1 + rng() % 4);
      for (WordId& word : source) word = 1 + rng() % 4;
      for (WordId& word : target) word = 1 + rng() % 4;
      const std::size_t columns = source.size() + 1;
      std::vector<double> exact(target.size() * columns, 0);
      double total = 0;
      for (const Links& links : all_links(source.size(), target.size())) {
        const double probability = weight(model, stage, source, target, links);
        total += probability;
        for (std::size_t j = 0; j < target.size(); ++j)
          exact[j * columns + (links[j] == kNoLink ? source.size() : links[j])] += probability;
      }
      const DirectionTables tables(model.view(), stage, 10);
      SentenceSampler sampler(tables);
      Links links(target.size(), kNoLink);
      sampler.begin(source, target, links, false);
      Random random{1};
      constexpr int kSweeps = 15000;
      std::vector<float> sampled(exact.size(), 0);
      std::vector<double> drawn(exact.size(), 0);
      for (int sweep = 0; sweep < kSweeps; ++sweep) {
        sampler.sweep(links, random, sampled);
        for (std::size_t j = 0; j < links.size(); ++j)
          drawn[j * columns + (links[j] == kNoLink ? source.size() : links[j])] += 1;
      }
      for (std::size_t i = 0; i < exact.size(); ++i) {
        expect(std::abs(sampled[i] / kSweeps - exact[i] / total) < 0.02, "probabilities of sweeps");
        expect(std::abs(drawn[i] / kSweeps - exact[i] / total) < 0.03, "links that are drawn");
      }
    }
  }
}

// A word that the model has counted does not see its own link.
void test_counted_links() {
  DirectionModel model(3, 2);
  model.links.add(1, 1, 1);
  model.links.add(1, 2, 1);
  model.totals = {0, 1, 1};
  const std::vector<WordId> source{1, 2};
  const std::vector<WordId> target{1};
  Links links{0};
  const DirectionTables tables(model.view(), AlignStage::kLexical, 2);
  SentenceSampler sampler(tables);
  std::vector<float> probabilities(3, 0);
  Random random{1};
  sampler.begin(source, target, links, true);
  sampler.sweep(links, random, probabilities);
  expect(probabilities[0] < 0.01f && probabilities[1] > 0.98f, "its own link is left out");
  links = {0};
  probabilities.assign(3, 0);
  sampler.begin(source, target, links, false);
  sampler.sweep(links, random, probabilities);
  expect(std::abs(probabilities[0] - probabilities[1]) < 1e-6f, "links of another pair count");
}

// Links of each pair of words, and of each source word.
struct PlainCounts {
  std::map<std::pair<WordId, WordId>, std::uint32_t> links;
  std::vector<std::uint32_t> totals;
  JumpCounts jumps;

  explicit PlainCounts(const Bitext& bitext) : totals(bitext.source().word_count(), 0) {}

  void add(const Bitext& bitext, const DirectionTrainer& trainer) {
    for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) {
      const auto source = bitext.source().sentence(pair);
      const auto target = bitext.target().sentence(pair);
      if (source.empty() || target.empty()) continue;
      jumps.add(trainer.links(pair), source.size(), 1);
      for (std::size_t j = 0; j < target.size(); ++j) {
        const LinkPosition link = trainer.links(pair)[j];
        const WordId word = link == kNoLink ? 0 : source[link];
        ++links[{target[j], word}];
        ++totals[word];
      }
    }
  }

  bool operator==(const DirectionModel& model) const {
    std::size_t cells = 0;
    for (WordId target = 0; target < model.links.size(); ++target)
      model.links.row(target).visit([&](WordId, std::uint32_t) { ++cells; });
    return cells == links.size() && totals == model.totals &&
           std::ranges::all_of(links, [&](const auto& cell) {
             return model.links.row(cell.first.first).count(cell.first.second) == cell.second;
           });
  }
};

// What a trainer has counted in the end is what its links say, and what is aligned with are sums of this.
void test_training() {
  Bitext bitext(folder());
  add_pairs(bitext);
  const DirectedBitext directed{bitext.source(), bitext.target(), PairSample(1, 1, 0)};
  DirectionTrainer one(directed, 7, 1, folder());
  DirectionTrainer three(directed, 7, 3, folder());
  std::size_t pairs = 0;
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) pairs += directed.has(pair);
  const int last = static_cast<int>(std::lround(5000 / std::sqrt(pairs)));
  PlainCounts sums(bitext);
  for (int k = 0; k < one.sweeps(); ++k) {
    one.sweep();
    three.sweep();
    if (k >= one.sweeps() - last) sums.add(bitext, one);
  }
  PlainCounts plain(bitext);
  plain.add(bitext, one);
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair)
    expect(std::ranges::equal(one.links(pair), three.links(pair)), "the same links with three threads");
  expect(plain == one.model() && plain == three.model(), "counts of links");
  expect(same_jumps(plain.jumps, one.model().jumps) && same_jumps(plain.jumps, three.model().jumps),
         "counts of jumps");
  std::vector<Fertilities> fertilities(bitext.source().word_count());
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) {
    if (!directed.has(pair)) continue;
    for (std::size_t i = 0; i < bitext.source().length(pair); ++i) {
      const auto links = std::ranges::count(one.links(pair), static_cast<LinkPosition>(i));
      ++fertilities[bitext.source().sentence(pair)[i]]
                   [std::min<std::size_t>(static_cast<std::size_t>(links), 7)];
    }
  }
  const DirectionModel model = one.take_model();
  const DirectionModel other = three.take_model();
  expect(sums == model && sums == other, "sums of links over the last sweeps");
  expect(same_jumps(plain.jumps, model.jumps) && same_jumps(plain.jumps, other.jumps), "the last jumps");
  expect(fertilities == model.fertilities && fertilities == other.fertilities, "the last fertilities");
}

void test_aligning() {
  Bitext bitext(folder());
  add_pairs(bitext);
  const auto links = [&](const AlignOptions& options) {
    WordAligner aligner(bitext, options, folder());
    std::uint64_t calls = 0;
    aligner.train(
        [&](std::uint64_t done, std::uint64_t all) { expect(done == ++calls && done <= all, "progress"); });
    const std::string text = aligner.lines(0, bitext.pairs(), Heuristic::kGrowDiagFinalAnd).links;
    expect(text == aligner.lines(0, 300, Heuristic::kGrowDiagFinalAnd).links +
                       aligner.lines(300, bitext.pairs(), Heuristic::kGrowDiagFinalAnd).links,
           "in parts");
    expect(std::ranges::count(text, '\n') == 900, "a line for each pair");
    return text;
  };
  const std::string text = links({1, 2, 1});
  expect(links({1, 2, 3}) == text, "threads change nothing");
  expect(links({2, 2, 1}) != text, "the seed does");
  expect(links({1, 1, 1}) != text, "the number of samplers does");
  Bitext blank(folder());
  blank.add("", "a");
  blank.add("b", "");
  expect_throws<FormatError>([&] { WordAligner(blank, {}, folder()); }, "nothing to align");
  expect_throws<FileError>([] { Bitext("no-such-folder"); }, "no folder");
}

// With memory for half of the words, pairs that were not learned from are aligned by what was learned.
void test_aligning_within_memory() {
  Bitext bitext(folder());
  for (int k = 0; k < 10; ++k) add_pairs(bitext);
  const std::size_t pairs = bitext.pairs();
  AlignOptions options{3, 2, 2};
  options.memory = WordAligner::bytes_needed(bitext);
  expect(
      WordAligner(bitext, options, folder()).train({}) == WordAligner(bitext, {3, 1, 2}, folder()).train({}),
      "room for all pairs");
  options.memory -= 12 * std::max(bitext.source().begin(pairs), bitext.target().begin(pairs));
  const PairSample half(options.seed, .5, 0);
  std::size_t learned = 0;
  for (std::size_t pair = 0; pair < pairs; ++pair) learned += bitext.has_words(pair) && half.has(pair);
  expect(learned > pairs / 5 && learned < pairs / 2, "about half of the pairs that have words");
  WordAligner aligner(bitext, options, folder());
  expect(aligner.train({}) == learned, "the number of pairs that it has learned from");
  PairAligner by_model(aligner.directions(), Heuristic::kGrowDiagFinalAnd);
  std::size_t others = 0;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    if (half.has(pair)) continue;
    by_model.align(bitext.source().sentence(pair), bitext.target().sentence(pair), {},
                   Random{options.seed, pair}.next());
    std::string line;
    for (const AlignmentLink& link : by_model.links())
      line += (line.empty() ? "" : " ") + std::to_string(link.source) + '-' + std::to_string(link.target);
    expect(aligner.lines(pair, pair + 1, Heuristic::kGrowDiagFinalAnd).links == line + '\n',
           "links by what was learned");
    ++others;
  }
  expect(others > pairs / 3, "many pairs were not learned from");
  options.memory = 1;
  expect(WordAligner(bitext, options, folder()).train({}) > 100, "a shard at least");
}

void test_bitext() {
  Bitext bitext(folder());
  bitext.add(" das  haus ", "the house");
  bitext.add("", "");
  bitext.add("haus das", "x");
  expect(bitext.pairs() == 3 && bitext.source().word_count() == 3, "pairs and words");
  expect(std::ranges::equal(bitext.source().sentence(2), std::vector<WordId>{2, 1}), "ids");
  expect(bitext.source().length(1) == 0 && bitext.target().begin(2) == 2, "an empty pair");
  std::string longest;
  for (std::size_t k = 0; k < Bitext::kLongest; ++k) longest += "w ";
  bitext.add(longest, "x");
  expect(bitext.source().length(3) == Bitext::kLongest, "a long sentence");
  expect_throws<FormatError>([&] { bitext.add(longest + "w", "x"); }, "too long a sentence");
  expect_throws<FormatError>([&] { bitext.add("y", longest + "w"); }, "too long a sentence");
  bitext.add("haus", "house");
  expect(bitext.pairs() == 5 && bitext.target().sentences() == 5, "a pair that fails is left out");
  expect(bitext.source().length(4) == 1 && bitext.target().length(4) == 1, "with all of its words");
}

void test_parallel_for() {
  std::vector<int> seen(1000, 0);
  parallel_for(seen.size(), 3, [&](std::size_t i, std::size_t worker) {
    expect(worker < 3, "a worker");
    ++seen[i];
  });
  expect(std::ranges::count(seen, 1) == 1000, "each once");
  expect_throws<std::runtime_error>(
      [] {
        parallel_for(100, 2, [](std::size_t i, std::size_t) {
          if (i == 50) throw std::runtime_error("stop");
        });
      },
      "an exception");
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_link_counts();
  hiero::test_jumps();
  hiero::test_sampling();
  hiero::test_counted_links();
  hiero::test_training();
  hiero::test_aligning();
  hiero::test_aligning_within_memory();
  hiero::test_bitext();
  hiero::test_parallel_for();
  return hiero::failed();
}
