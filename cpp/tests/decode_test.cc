// Decodes random sentences with random grammars and keeps all there is to keep, for the sanitizers'
// eyes; what the parts say of one search must agree. Usage: decode_test [cases = 300] [seed = 1]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "hiero/decode/decoder.h"
#include "hiero/forest/kbest.h"
#include "random_rules.h"

namespace hiero {
namespace {

double total(std::span<const double> scores, std::span<const EdgeIndex> edges) {
  return std::accumulate(edges.begin(), edges.end(), 0.0,
                         [&](double sum, EdgeIndex e) { return sum + scores[e]; });
}

bool agrees(const Translation& result, const Weights& weights) {
  const Hypergraph& forest = *result.forest;
  const std::vector<double> scores = edge_scores(forest, weights.values);
  const std::vector<EdgeIndex> best = viterbi(forest, scores, forest.root);
  const std::vector<double> tree_scores = edge_scores(*result.best, weights.values);
  const double tree = std::accumulate(tree_scores.begin(), tree_scores.end(), 0.0);
  if (best.empty()) return result.best->root < 0;
  alignment(forest, best);
  KBest lazy(forest, scores, false);
  double last = INFINITY;
  for (int k = 0; k < 50; ++k) {
    const auto next = lazy.next();
    if (!next) break;
    if (next->score > last || std::abs(total(scores, next->edges) - next->score) > 1e-9) return false;
    last = next->score;
  }
  return std::abs(total(scores, best) - tree) < 1e-4;
}

int run(std::size_t cases, unsigned seed) {
  std::size_t parsed = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    ModelParts parts;
    parts.tables.push_back({RuleTable::build(random_rules(random), "t", 0), "t", ""});
    const auto model = std::make_shared<const TranslationModel>(std::move(parts));
    std::vector<double> values;
    for (std::size_t f = 0; f < model->features().size(); ++f)
      values.push_back(static_cast<double>(below(random, 200)) / 100 - 1);
    const auto weights = std::make_shared<const Weights>(*model, values);
    DecoderOptions options;
    options.pop_limit = static_cast<std::uint32_t>(below(random, 3) * 10);
    options.beam_size = static_cast<std::uint32_t>(below(random, 3));
    const Decoder decoder(model, weights, options);
    const std::vector<std::string> tokens = random_sentence(random, 6);
    const Translation result = decoder.translate(tokens, {}, {}, Keep::kForest);
    const Translation chart = decoder.translate(tokens, {}, {}, Keep::kChart);
    if (!agrees(result, *weights) || chart.survivors.size() != chart.chart->node_labels.size()) {
      std::printf("decode_test: case %zu disagrees\n", i);
      return 1;
    }
    parsed += result.best->root >= 0;
  }
  std::printf("decode_test: %zu cases, %zu parsed\n", cases, parsed);
  return parsed > cases / 2 ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) {
  return hiero::run(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300,
                    argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 1);
}
