// Decodes random sentences with random grammars and keeps all there is to keep, for the sanitizers'
// eyes: up to three language models, local features, and rules of the sentence. What the parts say of one
// search must agree. Usage: decode_test [cases = 300] [seed = 1]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "cases.h"
#include "hiero/decode/decoder.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/kbest.h"
#include "hiero/forest/validate.h"
#include "hiero/tune/outside_strings.h"
#include "random_rules.h"
#include "small_lm.h"

namespace hiero {
namespace {

double total(std::span<const double> scores, std::span<const EdgeIndex> edges) {
  return std::accumulate(edges.begin(), edges.end(), 0.0,
                         [&](double sum, EdgeIndex e) { return sum + scores[e]; });
}

bool agrees(const Translation& result) {
  const std::vector<double>& weights = *result.weights;
  const Hypergraph& forest = *result.forest->graph;
  const std::vector<double> scores = edge_scores(*result.forest, weights);
  const std::vector<EdgeIndex> best = viterbi(forest, scores, forest.root);
  const std::vector<double> tree_scores = edge_scores(*result.best, weights);
  const double tree = std::accumulate(tree_scores.begin(), tree_scores.end(), 0.0);
  if (best.empty()) return result.best->graph->root < 0;
  alignment(forest, best);
  KBest lazy(forest, forest.root, scores, false);
  double last = INFINITY;
  for (int k = 0; k < 50; ++k) {
    const auto next = lazy.next();
    if (!next) break;
    if (next->score > last || std::abs(total(scores, next->edges) - next->score) > 1e-9) return false;
    last = next->score;
  }
  return std::abs(total(scores, best) - tree) < 1e-4;
}

// What rules score over the states of their own antecedents is what the chart has for them, and derivations
// of split points are derivations of their spans and as good as the chart says.
bool chart_agrees(const Chart& chart, std::size_t lms) {
  const Forest& featured = *chart.forest();
  const Hypergraph& forest = *featured.graph;
  std::vector<ChartState> states(lms);
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    std::vector<const ChartState*> tails;
    for (const NodeIndex tail : forest.edge_tails(e)) tails.push_back(chart.states(tail));
    const std::vector<double> found = chart.lm_features(e, tails, states.data());
    for (std::size_t k = 0; k < lms; ++k) {
      double known = 0;
      for (std::size_t i = 0; i < featured.feature_ids(e).size(); ++i) {
        if (static_cast<std::uint32_t>(featured.feature_ids(e)[i]) == chart.model().lm_feature(k))
          known = featured.feature_values(e)[i];
      }
      const NodeIndex head = head_of(forest, e);
      if (found[k] != known || (head != forest.root && !(states[k] == chart.states(head)[k]))) return false;
    }
  }
  for (const Chart::Span& span : chart.spans()) {
    for (const Chart::Split& split : chart.splits(span)) {
      const std::vector<EdgeIndex> edges = chart.derivation(split);
      const NodeIndex top = head_of(forest, edges.front());
      check_derivation(forest, top, edges);
      if (chart.span_of(top) != span) return false;
      if (std::abs(total(chart.edge_scores(), edges) - split.score) > 1e-9) return false;
    }
  }
  return true;
}

// Candidates of spans score what their features say; what is recovered is a derivation of a forest of its
// own.
bool outside_agrees(const std::shared_ptr<const Chart>& chart, Outside kind) {
  const std::vector<std::vector<std::string>> references{{"u", "v"}, {"w", "u", "v", "x"}};
  OutsideStrings outside(chart, kind, references, {5, {3, 4, ReferenceLength::kClosest}});
  if (outside.guided().oracle_bleu < outside.guided().best_bleu) return false;
  for (const Chart::Span& span : chart->spans()) {
    const KBestArrays found = outside.candidates(span);
    for (std::size_t i = 0; i < found.scores.size(); ++i) {
      double score = 0;
      for (std::int32_t at = found.features.offsets[i]; at < found.features.offsets[i + 1]; ++at)
        score += chart->weights().values[found.features.ids[at]] * found.features.values[at];
      if (std::abs(score - found.scores[i]) > 1e-9) return false;
    }
    for (const RecoveredDerivation& good : outside.recovered(span)) {
      const Derivation derivation = outside.derivation(good);
      validate(*derivation.forest);
      check_derivation(*derivation.forest, derivation.forest->graph->root, derivation.edges);
      if (good.bleu <= outside.guided().best_bleu) return false;
    }
  }
  return true;
}

// Words in the span, and words in the gaps.
class Widths : public RuleFeatures {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  SparseRows compute(const Sentence&, const ApplicationBatch& batch) const override {
    SparseRows rows{{0}, {}, {}};
    const Applications& all = batch.applications;
    for (const std::size_t a : batch.application) {
      double gaps = 0;
      for (std::size_t i = a * all.arity; i < (a + 1) * all.arity; ++i)
        gaps += all.gaps[2 * i + 1] - all.gaps[2 * i];
      rows.columns.insert(rows.columns.end(), {0, 1});
      rows.values.insert(rows.values.end(),
                         {static_cast<double>(all.span[2 * a + 1] - all.span[2 * a]), gaps});
      rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
    return rows;
  }

 private:
  std::vector<std::string> names_{"Span", "Gaps"};
};

// The first word of the span, and a constant; also of the goal.
class Places : public SpanFeatures {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  bool goal() const override { return true; }
  SparseRows compute(const Sentence&, std::span<const std::int32_t> spans) const override {
    SparseRows rows{{0}, {}, {}};
    for (std::size_t i = 0; i < spans.size(); i += 2) {
      rows.columns.insert(rows.columns.end(), {0, 1});
      rows.values.insert(rows.values.end(), {static_cast<double>(spans[i]), 1.0});
      rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
    return rows;
  }

 private:
  std::vector<std::string> names_{"First", "One"};
};

GapFeatures sizes_of_gaps(Random& random) {
  GapFeatures out{
      {"Monotone", "Reordered"}, below(random, 2) == 0, 1 + static_cast<unsigned>(below(random, 4)), {}};
  out.rows.offsets.push_back(0);
  for (std::uint32_t row = 0; row < 2 * out.sizes; ++row) {
    out.rows.columns.push_back(static_cast<std::int32_t>(row % 2));
    out.rows.values.push_back(row / 2 + 1.0);
    out.rows.offsets.push_back(row + 1);
  }
  return out;
}

// X above Y above Z in unary rules of both table and sentence.
std::vector<Rule> table_rules(Random& random) {
  std::vector<Rule> rules = random_rules(random);
  rules.push_back(parse_rule("[Y] ||| a [X,1] ||| [X,1] u ||| A=-0.5", "rule"));
  rules.push_back(parse_rule("[Z] ||| b ||| v ||| A=-0.25", "rule"));
  rules.push_back(parse_rule("[X] ||| [Y,1] ||| [Y,1] v ||| A=-0.5", "rule"));
  rules.push_back(
      parse_rule("[X] ||| [X,1] a [X,2] [X,3] [X,4] ||| [X,4] u [X,2] [X,1] [X,3] ||| A=-0.125", "rule"));
  return rules;
}

std::vector<Rule> sentence_rules(Random& random) {
  std::vector<Rule> rules;
  if (below(random, 2) == 0) rules.push_back(parse_rule("[Y] ||| [Z,1] ||| u [Z,1] ||| Own=1", "rule"));
  if (below(random, 2) == 0) rules.push_back(parse_rule("[X] ||| a [X,1] c ||| [X,1] ||| Own=-1", "rule"));
  if (below(random, 2) == 0) rules.push_back(parse_rule("[X] ||| a b d ||| v q ||| NameRule=1", "rule"));
  return rules;
}

// Returns the input with a lattice of its words, or with marks of them, and perhaps with a forbidden word.
SentenceInput with_more(Random& random, SentenceInput input) {
  const auto words = static_cast<std::uint32_t>(input.tokens.size());
  if (words == 0) return input;
  if (below(random, 3) == 0) input.constraint.forbidden.push_back({"u"});
  if (below(random, 2) == 0) {
    // Pairs of words are choices, or follow each other.
    std::uint32_t node = 0;
    for (std::uint32_t word = 0; word < words; ++word) {
      const bool is_choice = word > 0 && below(random, 3) == 0;
      const std::uint32_t begin = is_choice ? node - 1 : node;
      node = begin + 1;
      input.lattice.arcs.push_back({begin, node});
      input.lattice.scores.push_back(static_cast<double>(below(random, 100)) / -50);
    }
    input.lattice.score_count = 1;
    return input;
  }
  const auto begin = static_cast<std::uint32_t>(below(random, words));
  const SourceSpan span{begin, begin + 1 + static_cast<std::uint32_t>(below(random, words - begin))};
  if (below(random, 2) == 0)
    input.markup.phrases.push_back({span, {{"v"}, {"u", "w"}}, {0, -1}, "", PhraseMode(below(random, 3))});
  if (below(random, 3) == 0) input.markup.zones.push_back(span);
  if (words > 1 && below(random, 3) == 0)
    input.markup.walls.push_back({1 + static_cast<std::uint32_t>(below(random, words - 1)), {0, words}});
  if (below(random, 3) == 0) input.markup.kept.push_back(input.tokens[0]);
  return input;
}

int run(std::size_t cases, std::uint64_t seed) {
  const std::shared_ptr<const LanguageModel> lms[] = {small_lm(), small_lm("-0.9"), small_rest_lm()};
  std::size_t parsed = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    ModelParts parts;
    parts.tables.push_back({RuleTable::build(table_rules(random), "t", 0), "t", ""});
    for (std::size_t k = below(random, 4); k > 0; --k) parts.lms.push_back(lms[k - 1]);
    if (below(random, 2) == 0) parts.rule_features.push_back(std::make_shared<const Widths>());
    if (below(random, 2) == 0) parts.span_features.push_back(std::make_shared<const Places>());
    if (below(random, 2) == 0)
      parts.gap_features.push_back(std::make_shared<const GapFeatures>(sizes_of_gaps(random)));
    if (below(random, 2) == 0) parts.log_base = 100;
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
    const std::vector<Rule> own = sentence_rules(random);
    const SentenceWeights own_weights{{"Own", 0.5}};
    const Translation result = decoder.translate({tokens, own, own_weights, nullptr}, Keep::kForest);
    const Translation said =
        decoder.translate(with_more(random, {tokens, own, own_weights, nullptr}), Keep::kForest);
    const Translation splits = decoder.translate({tokens, own, own_weights, nullptr}, Keep::kSplits);
    bool outside = true;
    for (const Outside kind :
         {Outside::kNothing, Outside::kConcatenation, Outside::kTopDown, Outside::kGuided})
      outside = outside && outside_agrees(splits.chart, kind);
    if (!agrees(result) || !agrees(said) || !chart_agrees(*splits.chart, model->lms().size()) || !outside ||
        splits.stats.hypotheses != result.stats.hypotheses) {
      std::printf("decode_test: case %zu disagrees\n", i);
      return 1;
    }
    parsed += result.best->graph->root >= 0;
  }
  std::printf("decode_test: %zu cases, %zu parsed\n", cases, parsed);
  return parsed > cases / 2 ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 300, hiero::run); }
