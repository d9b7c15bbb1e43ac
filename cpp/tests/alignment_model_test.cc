// Files of what word alignment has learned: they say what was learned, and damage is found.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "align_cases.h"
#include "expect.h"
#include "hiero/align/alignment_model.h"
#include "hiero/align/word_aligner.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

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

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_frozen_directions();
  hiero::test_alignment_model();
  return hiero::failed();
}
