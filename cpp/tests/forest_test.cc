// A seeded mutation loop over the arrays of forests: whatever they hold, validate() refuses them or every
// algorithm runs on them without a fault. Usage: forest_test [cases = 20000] [seed = 1]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "cases.h"
#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/forest/annotate.h"
#include "hiero/forest/constrain.h"
#include "hiero/forest/distribution.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"
#include "hiero/forest/kbest.h"
#include "hiero/forest/ngrams.h"
#include "hiero/forest/record.h"
#include "hiero/forest/sampling.h"
#include "hiero/forest/subforest.h"
#include "hiero/forest/union.h"
#include "hiero/forest/validate.h"
#include "hiero/metrics/ngram_matches.h"
#include "hiero/metrics/oracle.h"

namespace hiero {
namespace {

using Random = std::mt19937_64;

std::int32_t below(Random& random, std::size_t limit) {
  return static_cast<std::int32_t>(limit == 0 ? 0 : random() % limit);
}

struct Arrays {
  Hypergraph forest;
  TargetTemplates targets;
  FeatureRows features;
  std::vector<std::int32_t> edge_rows;

  std::shared_ptr<Forest> join() const {
    auto graph = std::make_shared<Hypergraph>(forest);
    graph->targets = std::make_shared<TargetTemplates>(targets);
    const std::vector<std::string> names{"f", "g"};
    return std::make_shared<Forest>(Forest{std::move(graph), std::make_shared<FeatureRows>(features),
                                           edge_rows, std::make_shared<FeatureNames>(names)});
  }
};

Arrays random_arrays(Random& random) {
  Arrays arrays;
  Hypergraph& forest = arrays.forest;
  forest.source = {"s", "t"};
  forest.words = {"a", "b", "c"};
  forest.labels = {"X"};
  forest.tables = {"pt"};
  forest.edge_offsets = {0};
  forest.tail_offsets = {0};
  arrays.targets.offsets = {0};
  arrays.targets.link_offsets = {0};
  arrays.features.offsets = {0};
  const std::int32_t nodes = 1 + below(random, 5);
  for (NodeIndex v = 0; v < nodes; ++v) {
    forest.node_spans.insert(forest.node_spans.end(), {below(random, 2), 2});
    forest.node_labels.push_back(below(random, 2) - 1);
    for (std::int32_t edges = 1 + below(random, 3); edges > 0; --edges) {
      const std::int32_t arity = v == 0 ? 0 : below(random, 4);
      for (std::int32_t i = 0; i < arity; ++i) {
        forest.tails.push_back(below(random, static_cast<std::size_t>(v)));
        arrays.targets.symbols.push_back(-1 - i);
      }
      arrays.targets.symbols.push_back(below(random, forest.words.size()));
      arrays.targets.links.insert(arrays.targets.links.end(), {below(random, 2), arity});
      arrays.targets.offsets.push_back(static_cast<std::int32_t>(arrays.targets.symbols.size()));
      arrays.targets.link_offsets.push_back(static_cast<std::int32_t>(arrays.targets.links.size() / 2));
      forest.edge_targets.push_back(static_cast<std::int32_t>(forest.edge_targets.size()));
      forest.tail_offsets.push_back(static_cast<std::int32_t>(forest.tails.size()));
      forest.edge_tables.push_back(below(random, 2) - 1);
      forest.edge_rules.push_back(below(random, 9));
      arrays.features.ids.push_back(below(random, 2));
      arrays.features.values.push_back(below(random, 9) - 4.5);
      arrays.features.offsets.push_back(static_cast<std::int32_t>(arrays.features.ids.size()));
    }
    forest.edge_offsets.push_back(forest.edge_count());
  }
  forest.root = nodes - 1;
  return arrays;
}

template <class T>
void mutate(Random& random, std::vector<T>& values) {
  const auto at = static_cast<std::ptrdiff_t>(random() % (values.size() + 1));
  static constexpr T kValues[] = {0, 1, -1, 2, -3, 100, -100, 0x7FFFFFFF, -0x7FFFFFFF - 1};
  const T value = kValues[random() % std::size(kValues)];
  if (at == std::ssize(values) || random() % 4 == 0) {
    values.insert(values.begin() + at, value);
  } else if (random() % 3 == 0) {
    values.erase(values.begin() + at);
  } else {
    values[static_cast<std::size_t>(at)] = value;
  }
}

void mutate(Random& random, Arrays& arrays) {
  Hypergraph& f = arrays.forest;
  std::vector<std::int32_t>* const integers[] = {&f.node_spans,
                                                 &f.node_labels,
                                                 &f.edge_offsets,
                                                 &f.tail_offsets,
                                                 &f.tails,
                                                 &f.edge_tables,
                                                 &f.edge_targets,
                                                 &arrays.targets.offsets,
                                                 &arrays.targets.symbols,
                                                 &arrays.targets.links,
                                                 &arrays.targets.link_offsets,
                                                 &arrays.features.offsets,
                                                 &arrays.features.ids,
                                                 &arrays.edge_rows};
  const std::size_t which = random() % (std::size(integers) + 3);
  if (which < std::size(integers)) {
    mutate(random, *integers[which]);
  } else if (which == std::size(integers)) {
    mutate(random, f.edge_rules);
  } else if (which == std::size(integers) + 1) {
    arrays.features.values.push_back(std::nan(""));
  } else {
    f.root = below(random, 8) - 2;
  }
}

// Everything that reads the arrays.
void use(const std::shared_ptr<Forest>& forest, Random& random) {
  const NodeIndex root = forest->graph->root;
  const std::vector<double> scores = edge_scores(*forest, std::vector<double>{0.5, -0.25});
  std::vector<double> sums(forest->feature_names->size());
  add_weighted_features(*forest, scores, sums);
  const auto one = [](EdgeIndex) { return BigUnsigned(1); };
  // Looking for five different strings may go through all derivations.
  if (root >= 0) {
    const BigUnsigned count = inside(*forest, CountingSemiring(), one)[root];
    if (count.digits().size() > 1 || (!count.is_zero() && count.digits()[0] > 10000)) return;
  }
  (void)viterbi(*forest, scores, root);
  KBest lazy(*forest, root, scores, true);
  for (int i = 0; i < 5; ++i) {
    const auto next = lazy.next();
    if (!next) break;
    (void)alignment(*forest, next->edges);
    (void)feature_sums(*forest, next->edges);
  }
  const std::vector<std::vector<std::string>> references = {{"a", "b", "a"}, {"c"}};
  (void)constrain(*forest, references);
  (void)covered_shares(*forest);
  (void)rescore(forest, scores, references, {.document = {}, .beam = 2});
  (void)prune_by_margin(*forest, scores, 1);
  const std::shared_ptr<Forest> twice[] = {forest, forest};
  validate(union_of(twice));
  if (root >= 0) {
    const Distribution p(*forest, scores);
    (void)p.edge_expectations(scores);
    (void)sample(forest, scores, p, 3, random());
    (void)prune_by_posterior(*forest, scores, 0.5);
  }
  const Hypergraph refined = annotate_ngrams(*forest, 1 + below(random, 4), {20000, 0, {}});
  validate_annotations(refined);
  validate(with_origins(*forest, refined));
  (void)ngram_matches(refined, references);
  (void)edge_ngrams(refined);
}

// Records give the same forest again; those with other bytes, under a checksum of their own, are refused or
// give one that is as good as any.
void use_record(const Forest& forest, Random& random) {
  std::vector<std::byte> record = write_record(forest);
  if (write_record(read_record(record, forest.feature_names)) != record) std::abort();
  constexpr std::size_t kHeader = 12;
  for (std::int32_t n = 1 + below(random, 3); n > 0; --n) {
    const auto at = kHeader + static_cast<std::size_t>(random() % (record.size() - kHeader));
    if (random() % 4 == 0) {
      record.insert(record.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
    } else {
      record[at] = static_cast<std::byte>(random() % 2 == 0 ? random() : random() % 4);
    }
  }
  const std::uint64_t sum = checksum(record.data() + kHeader, record.size() - kHeader);
  std::memcpy(record.data() + kHeader - sizeof sum, &sum, sizeof sum);
  const Forest read = read_record(record, forest.feature_names);
  (void)edge_scores(read, std::vector<double>{0.5, -0.25});
  if (read.graph->ngram_order > 0) (void)edge_ngrams(read);
  (void)viterbi(read, std::vector<double>(read.graph->edge_tables.size(), 0.0), -1);
}

// Offsets that no 32 bits hold are refused, also those that would wrap to small ones.
bool offsets_are_checked() {
  constexpr std::size_t kMost = 0x7FFFFFFF;
  for (const std::size_t size : {kMost + 1, (std::size_t{1} << 32) + 5, ~std::size_t{0}}) {
    try {
      (void)array_offset(size);
      return false;
    } catch (const ForestError&) {
      // as it should be
    }
  }
  return array_offset(0) == 0 && array_offset(kMost) == 0x7FFFFFFF;
}

int run(std::size_t cases, std::uint64_t seed) {
  if (!offsets_are_checked()) {
    std::printf("forest_test: offsets are cut\n");
    return 1;
  }
  Random random(seed);
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Arrays arrays = random_arrays(random);
    for (std::int32_t n = below(random, 3); n > 0; --n) mutate(random, arrays);
    const auto forest = arrays.join();
    try {
      validate(*forest);
    } catch (const ForestError&) {
      ++refused;
      continue;
    }
    const auto attempt = [](const auto& work) {
      try {
        work();
      } catch (const ForestError&) {
        // too many edges, or no record
      }
    };
    attempt([&] { use(forest, random); });
    attempt([&] { use_record(*forest, random); });
    attempt([&] { use_record(with_origins(*forest, annotate_ngrams(*forest, 2, {20000, 0, {}})), random); });
  }
  std::printf("forest_test: %llu cases, %llu refused\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(refused));
  // Of the cases a third is not changed at all, and most changes make no forest.
  return refused > cases / 4 && refused < cases * 3 / 4 ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 20000, hiero::run); }
