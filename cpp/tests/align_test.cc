// Word alignment: sampling against all links of small pairs, and counts against plain ones.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "expect.h"
#include "hiero/align/alignment_model.h"
#include "hiero/align/bitext.h"
#include "hiero/align/direction_trainer.h"
#include "hiero/align/sentence_sampler.h"
#include "hiero/align/symmetrise.h"
#include "hiero/align/word_aligner.h"
#include "hiero/base/error.h"
#include "hiero/base/parallel.h"

namespace hiero {
namespace {

using Links = std::vector<LinkPosition>;

std::string folder() { return "."; }

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

// A model with counts at random.
DirectionModel random_model(std::mt19937& rng) {
  constexpr WordId kWords = 5;
  DirectionModel model(kWords, kWords);
  for (WordId target = 1; target < kWords; ++target) {
    for (WordId source = 0; source < kWords; ++source) {
      const auto count = static_cast<std::int32_t>(rng() % 4);
      model.links.add(target, source, count);
      model.totals[source] += static_cast<std::uint32_t>(count);
    }
  }
  for (int k = 0; k < 40; ++k) {
    Links links;
    for (int j = 0; j < 4; ++j) links.push_back(rng() % 4 ? static_cast<LinkPosition>(rng() % 4) : kNoLink);
    model.jumps.add(links, 4, 1);
  }
  for (auto& fertilities : model.fertilities) {
    for (std::uint32_t& count : fertilities) count = rng() % 20;
  }
  return model;
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

void add_pairs(Bitext& bitext) {
  std::mt19937 rng(4);
  for (int k = 0; k < 900; ++k) {
    std::string source, target;
    for (std::size_t n = rng() % 7; n > 0; --n) {
      const std::string word = std::to_string(rng() % 40);
      source += " s" + word;
      target = (rng() % 4 ? target + " " : " x ") + "t" + word + " " + target;
    }
    bitext.add(source, target);
  }
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

bool same_jumps(const JumpCounts& a, const JumpCounts& b) {
  for (int distance = -JumpCounts::kFarthest; distance <= JumpCounts::kFarthest; ++distance) {
    if (a.count(distance) != b.count(distance)) return false;
  }
  return a.total() == b.total();
}

// What a trainer has counted in the end is what its links say, and what is aligned with are sums of this.
void test_training() {
  Bitext bitext(folder());
  add_pairs(bitext);
  const DirectedBitext directed{bitext.source(), bitext.target()};
  DirectionTrainer one(directed, 7, 1, folder());
  DirectionTrainer three(directed, 7, 3, folder());
  std::size_t pairs = 0;
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) pairs += !directed.is_empty(pair);
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
    if (directed.is_empty(pair)) continue;
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

// A frozen model says what the model said, and nothing of the unknown word.
void test_frozen_directions() {
  std::mt19937 rng(5);
  const DirectionModel model = random_model(rng);
  const FrozenDirection own(model, folder());
  std::vector<std::uint64_t> copy((own.bytes().size() + 7) / 8);
  std::memcpy(copy.data(), own.bytes().data(), own.bytes().size());
  const FrozenDirection mapped(std::as_bytes(std::span(copy)));
  expect(own.source_words() == 5 && own.target_words() == 5 && mapped.target_words() == 5, "words");
  for (const DirectionView& view : {own.view(), mapped.view()}) {
    for (WordId source = 0; source <= 5; ++source) {
      const bool known = source < 5;
      expect(view.total(source) == (known ? model.totals[source] : 0), "totals");
      expect(view.fertilities(source) == (known ? model.fertilities[source] : Fertilities{}), "fertilities");
      for (WordId target = 0; target <= 5; ++target) {
        const std::uint32_t count = known && target < 5 ? model.links.row(target).count(source) : 0;
        expect(view.row(target).count(source) == count, "counts");
      }
    }
    expect(same_jumps(view.jumps(), model.jumps), "jumps");
  }
  for (std::size_t size = 0; size + 8 < own.bytes().size(); size += 8)
    expect_throws<Error>([&] { FrozenDirection(own.bytes().first(size)); }, "too short");
}

// What is written is read again, and aligns pairs alone as it does together.
void test_alignment_model() {
  const std::string path = folder() + "/align-test-model";
  Bitext bitext(folder());
  add_pairs(bitext);
  WordAligner aligner(bitext, {3, 2, 2}, folder());
  aligner.train({});
  AlignmentModel::save(path, bitext, aligner.directions());
  const AlignmentModel model(path);
  expect(model.samplers() == 2, "samplers");
  const std::vector<std::string> source{"s1 s2 s3", "", "s4 unknown", "s5 s5", "s1 s2 s3"};
  const std::vector<std::string> target{"t3 t2 t1", "t1", "t4 new", "t5 t5 x", "t3 t2 t1"};
  const LinkLines lines = model.lines(source, target, Heuristic::kUnion, 1);
  const LinkLines same = model.lines(source, target, Heuristic::kUnion, 3);
  expect(lines.links == same.links && lines.probabilities == same.probabilities, "threads change nothing");
  PairAligner single(model.directions(), Heuristic::kUnion);
  std::string links;
  for (std::size_t k = 0; k < source.size(); ++k) {
    model.align(single, source[k], target[k]);
    std::string line;
    for (const AlignmentLink& link : single.links())
      line += (line.empty() ? "" : " ") + std::to_string(link.source) + "-" + std::to_string(link.target);
    links += line + "\n";
    const auto rows_sum_to_one = [](std::span<const float> cells, std::size_t columns) {
      for (std::size_t at = 0; at < cells.size(); at += columns) {
        float sum = 0;
        for (const float cell : cells.subspan(at, columns)) sum += cell;
        if (std::abs(sum - 1) > 1e-4f) return false;
      }
      return true;
    };
    const bool is_empty = single.sources() == 0 || single.targets() == 0;
    expect(
        single.forward_probabilities().size() == (is_empty ? 0 : single.targets() * (single.sources() + 1)),
        "a probability for each word and position");
    expect(rows_sum_to_one(single.forward_probabilities(), single.sources() + 1), "of target words");
    expect(rows_sum_to_one(single.backward_probabilities(), single.targets() + 1), "of source words");
    for (const AlignmentLink& link : single.links()) {
      const float there = single.forward_probabilities()[link.target * (single.sources() + 1) + link.source];
      const float back = single.backward_probabilities()[link.source * (single.targets() + 1) + link.target];
      expect(std::abs(single.probability(link) - (there + back) / 2) < 1e-6f, "the mean of both directions");
    }
  }
  expect(links == lines.links, "pairs are aligned alone as together");
  expect(links.starts_with("0-2 1-1 2-0\n\n0-0"), "words that go together are linked");

  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto damaged = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    expect_throws<FormatError>([&] { AlignmentModel other(path); }, "a damaged file");
  };
  for (std::size_t at = 0; at < bytes.size(); at += at < 300 ? 1 : 509) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    damaged(changed);
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, bytes.size() - 8})
    damaged(bytes.substr(0, size));
  std::remove(path.c_str());
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
  hiero::test_frozen_directions();
  hiero::test_alignment_model();
  hiero::test_bitext();
  hiero::test_parallel_for();
  return hiero::failed();
}
