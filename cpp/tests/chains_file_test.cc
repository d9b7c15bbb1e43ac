// Word alignment in shards: the same as in one piece, and files of shards that do not fit are errors.
#include "hiero/align/chains_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "align_cases.h"
#include "expect.h"
#include "hiero/align/alignment_model.h"
#include "hiero/align/direction_trainer.h"
#include "hiero/align/word_aligner.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

std::string file_named(const std::string& name) { return folder() + "/chains-test-" + name; }

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// What comes of a complete aligner: links, probabilities and the model.
std::string results(const WordAligner& aligner, const Bitext& bitext) {
  expect(aligner.is_complete(), "all chains are there");
  const LinkLines lines = aligner.lines(0, bitext.pairs(), Heuristic::kGrowDiagFinalAnd);
  const std::string path = file_named("model");
  AlignmentModel::save(path, bitext, aligner.directions());
  const std::string model = read(path);
  std::remove(path.c_str());
  return lines.links + lines.probabilities + model;
}

// Trains the shards of aligners of their own, and returns the files.
std::vector<std::string> train_parts(const Bitext& bitext, const AlignOptions& options, std::uint64_t count) {
  std::vector<std::string> paths;
  for (std::uint64_t index = 0; index < count; ++index) {
    WordAligner aligner(bitext, options, folder());
    aligner.train({}, {index, count});
    paths.push_back(file_named(std::to_string(index) + "-" + std::to_string(count)));
    aligner.save_chains(paths.back());
  }
  return paths;
}

void remove(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) std::remove(path.c_str());
}

template <class Work>
void expect_message(const Work& work, const std::string& message) {
  try {
    work();
    expect(false, message.c_str());
  } catch (const FormatError& error) {
    if (std::string(error.what()).find(message) == std::string::npos)
      expect(false, (message + ": " + error.what()).c_str());
  }
}

// Expects an error of taking chains, and that the aligner says why.
void expect_refused(const Bitext& bitext, const AlignOptions& options, const std::vector<std::string>& paths,
                    const std::string& message) {
  WordAligner aligner(bitext, options, folder());
  expect_message([&] { aligner.take_chains(paths); }, message);
}

void test_parts(const Bitext& bitext, const AlignOptions& options, std::size_t other_threads) {
  WordAligner whole(bitext, options, folder());
  const std::size_t pairs = whole.train({});
  const std::string expected = results(whole, bitext);
  const std::string one_file = file_named("all");
  whole.save_chains(one_file);
  for (const std::uint64_t count : {1, 2, 3, 4, 6, 8}) {
    AlignOptions other = options;
    if (count == 2) other.threads = other_threads;
    std::vector<std::string> paths = train_parts(bitext, other, count);
    std::ranges::reverse(paths);
    WordAligner taker(bitext, other, folder());
    expect(taker.take_chains(paths) == pairs, "the pairs that were learned from");
    remove(paths);  // files stay mapped
    expect(results(taker, bitext) == expected, "shards come to what one process does");
    const std::string path = file_named("again");
    taker.save_chains(path);
    expect(read(path) == read(one_file), "chains that were taken are saved as those that were trained");
    std::remove(path.c_str());
  }
  std::remove(one_file.c_str());
}

// Parts of different numbers go together if each chain is there once.
void test_unequal_parts(const Bitext& bitext) {
  const AlignOptions options{3, 2, 1};
  WordAligner whole(bitext, options, folder());
  whole.train({});
  const auto halves = train_parts(bitext, options, 2);
  const auto quarters = train_parts(bitext, options, 4);
  WordAligner taker(bitext, options, folder());
  taker.take_chains(std::vector{quarters[3], halves[0], quarters[1]});
  expect(results(taker, bitext) == results(whole, bitext), "unequal shards");
  expect_refused(bitext, options, {quarters[3], halves[0]}, "shard 2 of 4 is missing");
  expect_refused(bitext, options, {halves[0], quarters[2]},
                 quarters[2] + ": chains that are in " + halves[0] + " too");
  remove(halves);
  remove(quarters);
}

// A shard has the chains that it should, reports its own sweeps, and is no whole.
void test_one_part(const Bitext& bitext) {
  const AlignOptions options{3, 3, 1};
  WordAligner whole(bitext, options, folder());
  std::uint64_t sweeps = 0;
  const std::size_t pairs = whole.train([&](std::uint64_t, std::uint64_t all) { sweeps = all; });
  const std::string all = file_named("all");
  whole.save_chains(all);
  const ChainsFile whole_file(all);
  expect(whole_file.chains().size() == 6 && whole_file.shard().count == 1, "all chains");
  for (const std::uint64_t index : {0, 1, 3, 6}) {
    WordAligner aligner(bitext, options, folder());
    std::uint64_t calls = 0;
    std::uint64_t total = 0;
    const std::size_t learned = aligner.train(
        [&](std::uint64_t done, std::uint64_t of) {
          expect(done == ++calls, "progress");
          total = of;
        },
        {index, 7});
    expect(learned == pairs, "a shard without chains learns from as many pairs as others");
    expect(!aligner.is_complete(), "a shard is not complete");
    expect(calls == total && total == (index < 6 ? sweeps / 6 : 0), "progress of the shard");
    const std::string path = file_named("shard");
    aligner.save_chains(path);
    const ChainsFile file(path);
    expect(file.path() == path && file.shard().index == index && file.shard().count == 7, "the shard");
    const ChainsBasis basis{3, 3, pairs, bitext.sum()};
    expect(file.basis() == basis && whole_file.basis() == basis, "the basis");
    expect(file.chains().size() == (index < 6 ? 1 : 0), "one chain or none");
    for (const ChainView& chain : file.chains()) {
      const ChainView& same = whole_file.chains()[index];
      expect(std::ranges::equal(chain.model, same.model), "the model of its chain");
      expect(std::ranges::equal(chain.links, same.links), "the links of its chain");
    }
    std::remove(path.c_str());
  }
  std::remove(all.c_str());
}

// Chains are what a trainer with their seed learns, and links of pairs begin with those of their direction.
void test_definition(const Bitext& bitext) {
  const AlignOptions options{3, 2, 1};
  WordAligner whole(bitext, options, folder());
  whole.train({});
  const std::string path = file_named("all");
  whole.save_chains(path);
  const ChainsFile file(path);
  std::remove(path.c_str());
  const PairSample all(3, 1, 0);
  const DirectedBitext directed[2] = {{bitext.source(), bitext.target(), all},
                                      {bitext.target(), bitext.source(), all}};
  for (std::size_t chain = 0; chain < 4; ++chain) {
    DirectionTrainer trainer(directed[chain / 2], Random{3, chain / 2, chain % 2}.next(), 1, folder());
    for (int sweeps = trainer.sweeps(); sweeps > 0; --sweeps) trainer.sweep();
    const FrozenDirection model(trainer.take_model(), folder());
    expect(std::ranges::equal(model.bytes(), file.chains()[chain].model), "the model of a chain");
    expect(std::ranges::equal(trainer.take_links().items(), file.chains()[chain].links), "its links");
  }
  PairAligner aligner(whole.directions(), Heuristic::kUnion);
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) {
    std::vector<std::span<const LinkPosition>> starts[2];
    for (std::size_t chain = 0; chain < 4; ++chain) {
      const BitextSide& side = directed[chain / 2].target;
      starts[chain / 2].push_back(file.chains()[chain].links.subspan(side.begin(pair), side.length(pair)));
    }
    aligner.align(bitext.source().sentence(pair), bitext.target().sentence(pair), {starts[0], starts[1]},
                  Random{3, pair}.next());
    std::string line;
    for (const AlignmentLink& link : aligner.links())
      line += (line.empty() ? "" : " ") + std::to_string(link.source) + '-' + std::to_string(link.target);
    expect(whole.lines(pair, pair + 1, Heuristic::kUnion).links == line + '\n', "links of a pair");
  }
}

void test_other_settings(const Bitext& bitext) {
  AlignOptions options{3, 2, 1};
  const auto paths = train_parts(bitext, options, 3);
  for (std::size_t shard = 0; shard < paths.size(); ++shard) {
    std::vector<std::string> others = paths;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(shard));
    expect_refused(bitext, options, others,
                   others[0] + ": shard " + std::to_string(shard + 1) + " of 3 is missing");
    others.push_back(others[0]);
    expect_refused(bitext, options, others, others[0] + ": chains that are in " + others[0] + " too");
  }
  expect_refused(bitext, options, {}, "no shards of word alignment");
  expect_refused(bitext, {4, 2, 1}, paths, paths[0] + ": chains of seed 3, expected 4");
  expect_refused(bitext, {3, 1, 1}, paths, paths[0] + ": chains of 2 samplers, expected 1");
  options.memory = WordAligner::bytes_needed(bitext);
  WordAligner same(bitext, options, folder());
  same.take_chains(paths);
  expect(same.is_complete(), "memory that has room for the same pairs");
  options.memory = 1;
  expect_refused(bitext, options, paths, paths[0] + ": chains of other memory, for");
  remove(paths);
}

// Contents that no program wrote, with a right checksum.
void test_contents_that_do_not_fit(const Bitext& bitext) {
  AlignOptions options;
  const std::vector<std::string> paths = train_parts(bitext, options, 1);
  const ChainsFile good(paths[0]);
  std::vector<ChainView> chains(good.chains().begin(), good.chains().end());
  const std::string path = file_named("wrong");
  const auto refused = [&](const ChainsBasis& basis, const Shard& shard) {
    ChainsFile::save(path, basis, shard, chains);
    expect_refused(bitext, options, {path}, "wrong: ");
  };
  const auto chains_refused = [&] {
    ChainsFile::save(path, good.basis(), {0, 1}, chains);
    expect_refused(bitext, options, {path}, "wrong: damaged: align again");
    chains[0] = good.chains()[0];
  };
  chains[0].links = chains[0].links.first(chains[0].links.size() - 1);
  chains_refused();
  chains[0].links = {};
  chains_refused();
  std::vector<LinkPosition> links(good.chains()[0].links.begin(), good.chains()[0].links.end());
  for (std::size_t pair = 0; pair < bitext.pairs(); ++pair) {
    if (bitext.has_words(pair))
      links[bitext.target().begin(pair)] = static_cast<LinkPosition>(bitext.source().length(pair));
  }
  chains[0].links = links;
  chains_refused();
  chains[0].model = good.chains()[1].model;  // of the other direction
  chains_refused();
  chains[0].model = chains[0].model.first(chains[0].model.size() - 8);
  chains_refused();
  chains[0].model = chains[0].model.first(chains[0].model.size() - 1);
  chains_refused();
  chains[0].model = {};
  chains_refused();
  for (const Shard shard : {Shard{0, 0}, Shard{1, 1}, Shard{0, 2}, Shard{0, Shard::kMost + 1}})
    refused(good.basis(), shard);
  for (const std::uint64_t samplers : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 63}) {
    ChainsBasis basis = good.basis();
    basis.samplers = samplers;
    refused(basis, {0, 1});
  }
  chains.pop_back();
  refused(good.basis(), {0, 1});
  std::remove(path.c_str());
  remove(paths);
}

void test_other_bitexts() {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Pairs pairs{{"a b", "x y z"}, {"c", "z"}, {"", "y"}, {"b a", ""}, {"c a", "z x"}};
  const auto fill = [](Bitext& bitext, const Pairs& lines) {
    for (const auto& [source, target] : lines) bitext.add(source, target);
  };
  const AlignOptions options{1, 1, 1};
  Bitext bitext(folder());
  fill(bitext, pairs);
  const auto paths = train_parts(bitext, options, 2);
  Bitext same(folder());
  fill(same, pairs);
  WordAligner(same, options, folder()).take_chains(paths);
  std::vector<Pairs> changed(7, pairs);
  changed[0][4].first = "c b";   // another word
  changed[1][4].second = "z y";  // on the other side
  changed[2][1].first = "d";     // the same ids of other words
  changed[2][4].first = "d a";
  changed[3][1] = {"", "z"};  // the same words in other sentences
  changed[3][3].first = "c b a";
  changed[4].emplace_back("", "");
  changed[5].pop_back();
  for (auto& [source, target] : changed[6]) std::swap(source, target);
  for (const Pairs& lines : changed) {
    Bitext other(folder());
    fill(other, lines);
    expect_refused(other, options, paths, paths[0] + ": chains of another bitext");
  }
  remove(paths);
}

// Sides of one word, and sentences without words, in few pairs.
void test_small_bitext() {
  Bitext bitext(folder());
  for (int k = 0; k < 20; ++k) {
    bitext.add("", "");
    bitext.add("a", "");
    bitext.add("", "b");
    bitext.add("a", "b");
  }
  test_parts(bitext, {1, 3, 1}, 1);
}

void test_damaged_files() {
  Bitext bitext(folder());
  for (int k = 0; k < 60; ++k) bitext.add("a b c", k % 2 ? "x y z z z" : "y");
  const AlignOptions options{1, 2, 1};
  auto paths = train_parts(bitext, options, 2);
  const std::string& path = paths[1];
  const std::string bytes = read(path);
  const auto refused = [&](const std::string& contents, const std::string& message) {
    write(path, contents);
    expect_message([&] { ChainsFile file(path); }, path + ": " + message);
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const int bits = 1 << at % 8;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ bits);
    refused(changed, at < 8    ? "not a file of chains"
                     : at < 16 ? "chains of word alignment of format version"
                     : at < 24 ? "truncated"
                               : "damaged");
  }
  for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 37)
    refused(bytes.substr(0, size), size < sizeof(PartsHeader) ? "not a file of chains" : "truncated");
  refused(bytes + '\0', "truncated");
  refused(bytes + bytes, "truncated");
  refused("0-0 1-1\n", "not a file of chains");

  write(path, bytes);
  WordAligner taker(bitext, options, folder());
  taker.take_chains(paths);
  expect(taker.is_complete(), "the file itself is right");
  AlignmentModel::save(path, bitext, taker.directions());
  expect_message([&] { ChainsFile file(path); }, path + ": not a file of chains");
  expect_throws<FileError>([] { ChainsFile file(file_named("none")); }, "no file");
  expect_throws<FileError>([] { ChainsFile file(folder()); }, "a folder");
  expect_throws<FileError>([&] { taker.save_chains(file_named("none/file")); }, "no folder");
  remove(paths);
}

void test_chains_files() {
  Bitext bitext(folder());
  std::mt19937 rng(6);
  for (int k = 0; k < 100; ++k) {
    std::string source, target;
    for (std::size_t n = rng() % 7; n > 0; --n) source += " s" + std::to_string(rng() % 20);
    for (std::size_t n = rng() % 7; n > 0; --n) target += " t" + std::to_string(rng() % 18);
    bitext.add(source, target);
  }
  test_parts(bitext, {3, 3, 1}, 2);
  test_unequal_parts(bitext);
  test_one_part(bitext);
  test_definition(bitext);
  test_contents_that_do_not_fit(bitext);
  Bitext large(folder());
  for (int k = 0; k < 4; ++k) add_pairs(large);
  AlignOptions sample{5, 1, 1};
  const std::size_t pairs = large.pairs();
  sample.memory = WordAligner::bytes_needed(large) -
                  12 * std::max(large.source().begin(pairs), large.target().begin(pairs));
  const std::size_t learned = WordAligner(large, sample, folder()).train({}, {9, 10});
  expect(learned > 100 && learned < pairs / 2, "a sample");
  test_parts(large, sample, 3);
  test_other_settings(large);
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_chains_files();
  hiero::test_small_bitext();
  hiero::test_other_bitexts();
  hiero::test_damaged_files();
  return hiero::failed();
}
