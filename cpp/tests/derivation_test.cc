// Derivations of a small forest whose root has two edges, one of which has the same tail twice:
//   0 -> "a" (edge 0) | "b" (edge 1);  1 -> 0 0 (edge 2) | "a" 0 (edge 3)
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "expect.h"
#include "hiero/base/error.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/forest_arrays.h"
#include "hiero/forest/kbest.h"
#include "hiero/forest/record.h"
#include "hiero/forest/sampling.h"
#include "hiero/forest/subforest.h"
#include "hiero/tune/forest_source.h"

namespace hiero {
namespace {

using Edges = std::vector<EdgeIndex>;
using Tokens = std::vector<std::string>;

constexpr double kNever = -std::numeric_limits<double>::infinity();
const std::vector<double> kScores{1.0, 0.5, 0.0, 0.25};

ForestArrays arrays() {
  ForestArrays out;
  out.edge_offsets = {0, 2, 4};
  out.tail_offsets = {0, 0, 0, 2, 3};
  out.tails = {0, 0, 0};
  out.edge_targets = {{0, 1, 2, 3}};
  out.target_offsets = {0, 1, 2, 4, 6};
  out.target_symbols = {0, 1, -1, -2, 0, -1};
  out.words = {"a", "b"};
  out.features = FeatureRows{{0, 1, 2, 2, 3}, {0, 0, 1}, {1.0, 0.5, 0.25}};
  out.feature_names = std::make_shared<const FeatureNames>(Tokens{"f", "g"});
  return out;
}

void test_arrays() {
  const std::shared_ptr<Forest> forest = make_forest(arrays());
  expect(forest->graph->root == 1 && forest->graph->edge_count() == 4, "the root is the last node");
  expect(forest->graph->node_labels == Edges{-1, -1} && forest->graph->node_spans == Edges{0, 0, 0, 0},
         "spans and labels have defaults");
  expect(forest->graph->edge_rules == std::vector<std::int64_t>(4, -1), "edges have no rules");
  ForestArrays plain = arrays();
  plain.edge_targets.reset();
  plain.target_offsets.clear();
  plain.target_symbols.clear();
  const std::shared_ptr<Forest> joined = make_forest(std::move(plain));
  expect(yield_tokens(*joined, Edges{2, 0, 1}).empty(), "by default edges join the yields of their tails");
  expect(joined->graph->targets->symbols == Edges{-1, -2, -1}, "there is a target for each number of tails");
  ForestArrays cycle = arrays();
  cycle.tails = {0, 1, 0};
  expect_throws<ForestError>([&] { make_forest(cycle); }, "a tail comes before its head");
  FeatureRows rows{{0, 0, 0, 0, 1}, {0}, {2.0}};
  const auto other = with_features(*forest, rows, std::make_shared<const FeatureNames>(Tokens{"h"}));
  expect(other->graph == forest->graph && edge_scores(*other, std::vector<double>{3.0})[3] == 6.0,
         "with other features");
  rows.ids = {1};
  expect_throws<ForestError>(
      [&] { with_features(*forest, rows, std::make_shared<const FeatureNames>(Tokens{"h"})); },
      "a feature without a name");
}

void test_best() {
  const std::shared_ptr<const Forest> forest = make_forest(arrays());
  const auto best = best_derivation(forest, kScores, 1);
  expect(best && best->edges == Edges{2, 0, 0}, "best derivation");
  expect(best && best->score == 2.0 && best->forest == forest, "its score and forest");
  expect(!best_derivation(forest, std::vector<double>(4, kNever), 1), "none has a score above -infinity");
  expect_throws<std::invalid_argument>([&] { best_derivation(forest, std::vector<double>(3), 1); },
                                       "a score per edge");
  const Derivation given = checked_derivation(forest, 1, {3, 1}, kScores);
  expect(given.score == 0.75 && yield_tokens(*forest, given.edges) == Tokens{"a", "b"}, "given edges");
  expect(checked_derivation(forest, 0, {1}, {}).score == 0.0, "without scores it is 0");
  expect_throws<ForestError>([&] { checked_derivation(forest, 1, {2, 0}, kScores); }, "an edge is missing");
  expect(tokens(*forest, Edges{1, 0, 1}) == Tokens{"b", "a", "b"}, "tokens of words");
  expect(rule_words(*forest) == Edges{1, 1, 0, 1}, "words of rules");
}

void test_kbest() {
  const std::shared_ptr<const Forest> forest = make_forest(arrays());
  const auto list = kbest(forest, 1, kScores, 10, false);
  expect(list.size() == 6 && list[0].edges == Edges{2, 0, 0} && list[5].edges == Edges{3, 1},
         "all, in order");
  for (std::size_t i = 1; i < list.size(); ++i) expect(list[i - 1].score >= list[i].score, "best first");
  const auto distinct = kbest(forest, 1, kScores, 10, true);
  expect(distinct.size() == 4, "strings differ");
  expect(kbest(forest, 1, kScores, 0, false).empty() && kbest(forest, -1, kScores, 3, false).empty(), "none");
  const KBestArrays as_arrays = kbest_arrays(*forest, 1, kScores, 2, false);
  expect(as_arrays.edges == Edges{2, 0, 0, 2, 0, 1} && as_arrays.edge_offsets == Edges{0, 3, 6}, "as arrays");
  expect(as_arrays.words == Edges{0, 0, 0, 1} && as_arrays.features.values[0] == 2.0, "strings and features");
}

// The score of the only derivation is that of the k-best list to the bit, where sums round.
void test_only() {
  const std::vector<double> weights{0.1, 0.7};
  const std::shared_ptr<const Forest> forest = make_forest(arrays());
  const std::vector<double> scores = edge_scores(*forest, weights);
  const Derivation best = kbest(forest, 1, scores, 1, false).front();
  std::vector<std::uint8_t> keep(4, 0);
  for (const EdgeIndex e : best.edges) keep[static_cast<std::size_t>(e)] = 1;
  const auto single = std::make_shared<const Forest>(with_origins(*forest, subforest(*forest, keep)));
  const Derivation only = only_derivation(single, weights);
  expect(only.score == best.score && only.edges.size() == best.edges.size(), "the only derivation");
  const auto none = std::make_shared<const Forest>(with_origins(*forest, empty_copy(*forest)));
  expect(only_derivation(none, weights).edges.empty() && only_derivation(none, weights).score == 0.0,
         "a forest without derivations");
}

void test_distribution() {
  const std::shared_ptr<const Forest> forest = make_forest(arrays());
  const Distribution p(*forest, kScores);
  const double a = std::exp(1.0), b = std::exp(0.5);
  const double z = (a + b) * (a + b) + std::exp(0.25) * (a + b);
  expect(std::abs(p.log_inside()[1] - std::log(z)) < 1e-12, "inside of the root");
  expect(std::abs(p.log_inside()[0] - std::log(a + b)) < 1e-12, "inside of the tail");
  expect(p.log_outside(kScores)[1] == 0.0, "outside of the root");
  expect(std::abs(p.log_outside(kScores)[0] - std::log(2 * (a + b) + std::exp(0.25))) < 1e-12,
         "the outside value counts both places of a tail");
  for (const Derivation& derivation : sample(forest, kScores, p, 20, 1)) {
    check_derivation(*forest, 1, derivation.edges);
    expect(derivation.score == total(kScores, derivation.edges), "samples have their scores");
  }
  expect(prune_by_posterior(*forest, kScores, 2.0).edge_count() == 2, "the best derivation stays");
  expect(prune_by_posterior(empty_copy(*forest), {}, 0.5).node_count() == 0, "an empty forest stays empty");
}

void test_sources() {
  const std::shared_ptr<const Forest> forest = make_forest(arrays());
  const std::vector<std::byte> record = write_record(*forest);
  std::vector<std::byte> memory(3, std::byte{0});
  memory.insert(memory.end(), record.begin(), record.end());
  const auto size = static_cast<std::int64_t>(record.size());
  const ForestRecords records(memory, std::vector<std::int64_t>{3, size, 0, 3}, forest->feature_names);
  expect(records.size() == 2 && write_record(*records.forest(0)) == record, "a record is read");
  expect_throws<ForestError>([&] { records.forest(1); }, "damaged records are errors");
  const std::vector<std::int64_t> beyond{4, size};
  expect_throws<ForestError>([&] { ForestRecords(memory, beyond, forest->feature_names); }, "beyond the end");
  ForestArrays renamed = arrays();
  renamed.feature_names = std::make_shared<const FeatureNames>(Tokens{"f", "h"});
  const std::vector<std::shared_ptr<const Forest>> different{forest, make_forest(std::move(renamed))};
  expect_throws<std::invalid_argument>([&] { ForestList list(different); }, "features differ");
  expect(ForestList({forest, forest}).size() == 2, "a list");
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_arrays();
  hiero::test_best();
  hiero::test_kbest();
  hiero::test_only();
  hiero::test_distribution();
  hiero::test_sources();
  return hiero::failed();
}
