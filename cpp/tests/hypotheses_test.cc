// Statistics of hypotheses against references, and oracle derivations that have them.
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.h"
#include "hiero/forest/forest_arrays.h"
#include "hiero/metrics/hypotheses.h"
#include "hiero/metrics/oracle.h"

namespace hiero {
namespace {

using Tokens = std::vector<std::string>;
using Ints = std::vector<std::int32_t>;

const ReferenceSet::References kReferences{{"the", "cat", "sat"}, {"a", "cat"}};

void test_arrays() {
  const std::vector<ReferenceSet::References> segments{{{"x"}}, kReferences};
  const ReferenceSet set(segments);
  const Tokens vocabulary{"cat", "dog", "the"};
  const Hypotheses list(set, {1, 0}, vocabulary, {2, 0, 0, 1}, {0, 3, 4});
  expect(list.size() == 2 && list.segment(0) == 1 && list.words(0).size() == 3, "segments and words");
  expect(list.words(1)[0] == -1, "a word that is in no reference");
  const BleuCounts counts = set.bleu(1, list.words(0), ReferenceLength::kClosest);
  expect(counts.matches[0] == 2 && counts.matches[1] == 1 && counts.totals[1] == 2, "clipped matches");
  expect(set.unclipped(1, list.words(0))[0] == 3, "matches without clipping");
  const auto make = [&](Ints segment, Ints words, Ints offsets) {
    Hypotheses(set, std::move(segment), vocabulary, std::move(words), std::move(offsets));
  };
  expect_throws<std::out_of_range>([&] { make({2}, {0}, {0, 1}); }, "no such segment");
  expect_throws<std::out_of_range>([&] { make({0}, {3}, {0, 1}); }, "no such word");
  expect_throws<std::invalid_argument>([&] { make({0}, {0}, {0, 2}); }, "offsets beyond the words");
  expect_throws<std::invalid_argument>([&] { make({0, 0}, {0, 1}, {0, 2, 1}); }, "offsets that fall");
  expect_throws<std::invalid_argument>([&] { make({0}, {0}, {0}); }, "an offset is missing");
}

void test_one_sentence() {
  const BleuCounts counts = bleu_counts(Tokens{"the", "cat", "cat"}, kReferences, ReferenceLength::kShortest);
  expect(counts.length == 3 && counts.reference_length == 2 && counts.matches[0] == 2,
         "counts of a sentence");
  expect_throws<std::invalid_argument>([] { bleu_counts(Tokens{"a"}, {{}, {}}, ReferenceLength::kShortest); },
                                       "all references are empty");
}

// The counts of oracle hypotheses are clipped, unlike those of the objective.
void test_oracle() {
  ForestArrays arrays;
  arrays.edge_offsets = {0, 2};
  arrays.tail_offsets = {0, 0, 0};
  arrays.edge_targets = Ints{0, 1};
  arrays.target_offsets = {0, 3, 5};
  arrays.target_symbols = {0, 1, 1, 0, 1};
  arrays.words = {"the", "cat"};
  const std::shared_ptr<const Forest> forest = make_forest(std::move(arrays));
  RescoreOptions options;
  options.mu = 1;
  options.k = 2;
  const auto list = rescore(forest, std::vector<double>{1.0, 0.0}, kReferences, options);
  expect(list.size() == 2 && list[0].derivation.edges == Ints{0} && list[0].derivation.score == 1.0,
         "the model prefers the first");
  expect(list[0].counts.matches[0] == 2 && list[0].counts.totals[0] == 3, "clipped matches of the first");
  expect(list[1].counts.matches[1] == 1 && list[1].derivation.forest == forest, "matches of the second");
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_arrays();
  hiero::test_one_sentence();
  hiero::test_oracle();
  return hiero::failed();
}
