#include "hiero/decode/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "hiero/base/arena.h"
#include "hiero/decode/coarse.h"
#include "hiero/decode/constrained_matches.h"
#include "hiero/decode/exact.h"
#include "hiero/decode/forced_prefix.h"
#include "hiero/decode/forest_builder.h"
#include "hiero/decode/markup_filter.h"
#include "hiero/decode/matcher.h"
#include "hiero/decode/search.h"
#include "hiero/decode/targets.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/subforest.h"
#include "hiero/forest/union.h"

namespace hiero {

namespace {

// Returns the best derivation as k-best lists have it. If scores of several differ only by the rounding of
// sums, the search may have preferred another one.
std::shared_ptr<const Forest> best_of(const Forest& forest, std::span<const double> weights) {
  const Hypergraph& graph = *forest.graph;
  std::vector<std::uint8_t> keep(graph.edge_count(), 0);
  if (graph.root >= 0)
    for (EdgeIndex e : viterbi(graph, edge_scores(forest, weights), graph.root)) keep[e] = 1;
  return std::make_shared<const Forest>(with_origins(forest, subforest(graph, keep)));
}

// Adds the best derivation to the forest, which lacks it.
void add_best(Translation& translation) {
  const std::array forests{std::make_shared<Forest>(*translation.forest),
                           std::make_shared<Forest>(*translation.best)};
  translation.forest = std::make_shared<const Forest>(union_of(forests));
  translation.best = best_of(*translation.forest, *translation.weights);
}

// Returns the positions of unknown words that no rule of the sentence covers together with other words.
std::vector<std::uint32_t> uncovered(const Sentence& sentence, const Matches& matches) {
  std::vector<std::uint32_t> out = sentence.unknown();
  if (!sentence.has_rules() || out.empty()) return out;
  std::vector<char> covered(sentence.size(), 0);
  for (const Application& application : matches.applications) {
    const Cell& cell = matches.cells[application.cell];
    const bool is_sentence_rule =
        matches.target_sets[application.targets].table + 1 == sentence.table_count();
    if (!is_sentence_rule || cell.end - cell.begin == 1) continue;
    matches.visit_words(application, [&](std::uint32_t position) { covered[position] = 1; });
  }
  std::erase_if(out, [&](std::uint32_t position) { return covered[position]; });
  return out;
}

// Drops the positions of words that the derivation of a lattice does not pass.
void keep_on_path(const Forest& best, std::vector<std::uint32_t>& positions) {
  if (best.graph->root < 0) return;
  const std::vector<double> scores(best.graph->edge_tables.size(), 0.0);
  std::vector<std::uint8_t> is_passed(best.graph->source.size(), 0);
  for (const std::int32_t word : source_path(*best.graph, viterbi(*best.graph, scores, best.graph->root)))
    is_passed[static_cast<std::size_t>(word)] = 1;
  std::erase_if(positions, [&](std::uint32_t position) { return !is_passed[position]; });
}

// Weights, and the names of their features.
struct NamedWeights {
  std::shared_ptr<const Weights> weights;
  std::shared_ptr<const FeatureNames> names;
};

// Appends to the model's weights those that only one sentence's rules need.
NamedWeights with_sentence_weights(const NamedWeights& model, const SentenceWeights& extra) {
  if (extra.empty()) return model;
  auto weights = std::make_shared<Weights>(*model.weights);
  auto names = std::make_shared<FeatureNames>(*model.names);
  for (const auto& [name, weight] : extra) {
    if (names->find(name) != FeatureNames::kAbsent)
      throw std::invalid_argument("a second weight for " + name);
    if (!std::isfinite(weight)) throw std::invalid_argument("weight of " + name + " is not finite");
    names->add(name);
    weights->values.push_back(weight);
  }
  return {std::move(weights), std::move(names)};
}

// Whether the words of a prefix may be forced.
bool can_be_forced(const SentenceInput& input) {
  const TargetConstraint& constraint = input.constraint;
  if (input.lattice.any()) return false;
  const bool has_prefix = !(constraint.prefix.empty() && constraint.unfinished.empty());
  return has_prefix && !input.tokens.empty() && constraint.references.empty() && input.forced.empty();
}

// Returns the weight of a forced word: as bad as a probability of e^-10 in every language model.
double forcing_weight(const Weights& weights) {
  constexpr double kCost = 10;
  double scale = weights.lm.empty() ? 1 : 0;
  for (const double weight : weights.lm) scale += std::abs(weight);
  return -kCost * scale;
}

// Gives a weight to a feature that has none.
void add_weight(const FeatureNames& model, const std::string& name, double weight, SentenceWeights& weights) {
  const bool is_given =
      std::ranges::find(weights, name, &SentenceWeights::value_type::first) != weights.end();
  if (!is_given && model.find(name) == FeatureNames::kAbsent) weights.emplace_back(name, weight);
}

// Gives weights to the features of a lattice's scores that have none: they count in full.
void add_lattice_weights(const FeatureNames& model, std::size_t scores, SentenceWeights& weights) {
  for (std::size_t k = 0; k < scores; ++k) add_weight(model, lattice_feature(k), 1.0, weights);
}

// Gives weights to the features of marked phrases that have none: their probabilities count in full, and what
// is marked is as good as what is not.
void add_phrase_weights(const FeatureNames& model, SentenceWeights& weights) {
  add_weight(model, kMarkupRule, 0.0, weights);
  add_weight(model, kMarkupProbability, 1.0, weights);
}

}  // namespace

// The parts whose memory is reused from sentence to sentence.
struct Decoder::Workspace {
  explicit Workspace(const TranslationModel& model) : matcher(model), search(model, arena) {}

  Arena arena;
  Matcher matcher;
  Matches matches;
  MarkupFilter filter;
  MatchConstrainer constrainer;
  TargetScratch target_scratch;
  Search search;
};

std::unique_ptr<Decoder::Workspace> Decoder::WorkspacePool::take(const TranslationModel& model) {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto workspace = std::move(free_.back());
      free_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(model);
}

void Decoder::WorkspacePool::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(workspace));
}

Decoder::WorkspacePool::~WorkspacePool() = default;

Decoder::Decoder(std::shared_ptr<const TranslationModel> model, std::shared_ptr<const Weights> weights,
                 const DecoderOptions& options)
    : model_(std::move(model)),
      weights_(std::move(weights)),
      options_(options),
      pool_(std::make_shared<WorkspacePool>()) {
  check_settings(options_);
}

Decoder Decoder::with_weights(std::shared_ptr<const Weights> weights) const {
  Decoder other(*this);
  other.weights_ = std::move(weights);
  return other;
}

Translation Decoder::translate(SentenceInput input, Keep keep) const {
  add_lattice_weights(*model_->shared_features(), input.lattice.score_count, input.weights);
  if (!input.markup.phrases.empty()) add_phrase_weights(*model_->shared_features(), input.weights);
  const auto [weights, feature_names] =
      with_sentence_weights({weights_, model_->shared_features()}, input.weights);
  const TargetConstraint constraint = input.constraint;
  std::optional<SentenceInput> again;
  if (can_be_forced(input)) again = input;
  const std::shared_ptr<const Deadline> deadline = input.deadline;
  DecoderOptions options = options_;
  if (!constraint.references.empty()) options.pop_limit = 0;  // a cell has one string, and so one item
  const Sentence sentence(*model_, std::move(input), options);
  // A workspace is lost, not returned, when decoding throws: its state is unknown then.
  std::unique_ptr<Workspace> w = pool_->take(*model_);
  w->arena.reset();
  const auto match = [&] {
    w->matcher.run(sentence, options.span_limit, w->matches);
    if (sentence.hidden().any()) sentence.hidden().drop(w->matches);
    if (sentence.markup().any()) w->filter.run(sentence, w->matches);
  };
  match();
  Translation out;
  out.unknown = uncovered(sentence, w->matches);
  const SentenceContext context{*model_, sentence, *weights, options, w->matches, w->arena, deadline.get()};
  if (constraint.any()) out.uncovered = w->constrainer.run(sentence, TargetAutomaton(constraint), w->matches);
  if (again && w->matches.goal == kNoCell) {
    match();
    SentenceTargets unconstrained(context, w->target_scratch);
    again->forced = forced_rules(context, unconstrained, constraint);
    again->weights.emplace_back(kForcedWords, forcing_weight(*weights));
    pool_->give_back(std::move(w));
    Translation forced = translate(*std::move(again), keep);
    forced.uncovered = std::move(out.uncovered);
    return forced;
  }
  SentenceTargets targets(context, w->target_scratch);
  const CoarsePass coarse(w->matches, targets);
  const SearchContext search_context{context, targets, coarse, keep};
  const SearchSpace& space = w->search.run(search_context);

  out.weights = {weights, &weights->values};
  out.temperature = options.confidence_temperature;
  ForestBuilder builder(context, targets, space, feature_names);
  if (keep == Keep::kForest) {
    out.forest = builder.forest();
    out.best = best_of(*out.forest, weights->values);
  } else {
    out.best = builder.best();
  }
  if (sentence.lattice().any()) keep_on_path(*out.best, out.unknown);
  if (keep == Keep::kChart || keep == Keep::kSplits)
    out.chart = std::make_shared<Chart>(builder.chart(model_, weights));
  out.was_late = space.was_late;
  if (space.is_complete) {
    out.gap = 0;
  } else if (options.exact > 0 && !space.goals.empty() && !space.was_late) {
    ExactSearch exact(search_context, space.goals[0].score);
    exact.run(options.exact);
    out.gap = exact.gap();
    out.was_late = exact.is_stopped() && context.is_late();
    out.stats.hypotheses += exact.space().hypotheses;
    if (exact.is_better()) {
      ForestBuilder better(context, targets, exact.space(), feature_names);
      out.best = better.best();
      if (keep == Keep::kForest) add_best(out);
      out.stats.lm_queries += better.lm_queries();
    }
    out.stats.lm_queries += exact.space().lm_queries;
  }
  out.stats.applications = w->matches.applications.size();
  out.stats.cells = w->matches.cells.size();
  out.stats.hypotheses += space.hypotheses;
  out.stats.completed = space.completed.size();
  out.stats.lm_queries += targets.lm_queries() + space.lm_queries + builder.lm_queries();
  pool_->give_back(std::move(w));
  return out;
}

}  // namespace hiero
