#include "hiero/decode/decoder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hiero/base/arena.h"
#include "hiero/decode/coarse.h"
#include "hiero/decode/forest_builder.h"
#include "hiero/decode/matcher.h"
#include "hiero/decode/search.h"
#include "hiero/decode/targets.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/subforest.h"

namespace hiero {

namespace {

// The best derivation as k-best lists have it: of those that are equal but for the rounding of sums, search
// may have taken another.
std::shared_ptr<const Forest> best_of(const Forest& forest, std::span<const double> weights) {
  const Hypergraph& graph = *forest.graph;
  std::vector<std::uint8_t> keep(graph.edge_count(), 0);
  if (graph.root >= 0)
    for (EdgeIndex e : viterbi(graph, edge_scores(forest, weights), graph.root)) keep[e] = 1;
  return std::make_shared<const Forest>(with_origins(forest, subforest(graph, keep)));
}

// The unknown words that no rule of the sentence with more than this word covers.
std::vector<std::uint32_t> uncovered(const Sentence& sentence, const Matches& matches) {
  std::vector<std::uint32_t> out = sentence.unknown();
  if (!sentence.has_rules() || out.empty()) return out;
  std::vector<char> covered(sentence.size(), 0);
  for (const Application& application : matches.applications) {
    const Cell& cell = matches.cells[application.cell];
    const bool own = matches.target_sets[application.targets].table + 1 == sentence.table_count();
    if (!own || cell.end - cell.begin == 1) continue;
    std::uint32_t at = cell.begin;
    for (CellId tail : matches.tails(application)) {
      std::fill(covered.begin() + at, covered.begin() + matches.cells[tail].begin, 1);
      at = matches.cells[tail].end;
    }
    std::fill(covered.begin() + at, covered.begin() + cell.end, 1);
  }
  std::erase_if(out, [&](std::uint32_t position) { return covered[position]; });
  return out;
}

}  // namespace

struct Decoder::Workspace {
  explicit Workspace(const TranslationModel& model) : matcher(model), search(model, arena) {}

  Arena arena;
  Matcher matcher;
  Matches matches;
  SentenceTargets targets;
  CoarsePass coarse;
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
  std::shared_ptr<const Weights> weights = weights_;
  std::shared_ptr<const FeatureNames> feature_names = model_->shared_features();
  if (!input.weights.empty()) {
    auto all_names = std::make_shared<FeatureNames>(*feature_names);
    auto all_weights = std::make_shared<Weights>(*weights_);
    for (const auto& [name, weight] : input.weights) {
      if (all_names->find(name) != FeatureNames::kAbsent)
        throw std::invalid_argument("a second weight for " + name);
      if (!std::isfinite(weight)) throw std::invalid_argument("weight of " + name + " is not finite");
      all_names->add(name);
      all_weights->values.push_back(weight);
    }
    weights = std::move(all_weights);
    feature_names = std::move(all_names);
  }
  const Sentence sentence(*model_, std::move(input), options_);
  // A workspace is lost, not returned, when decoding throws: its state is unknown then.
  std::unique_ptr<Workspace> w = pool_->take(*model_);
  w->arena.reset();
  w->matcher.run(sentence, options_.span_limit, w->matches);

  Translation out;
  out.weights = {weights, &weights->values};
  out.unknown = uncovered(sentence, w->matches);
  out.stats.applications = w->matches.applications.size();
  w->targets.prepare(*model_, sentence, *weights, options_, w->matches, w->arena);
  if (w->matches.goal != kNoCell) w->coarse.run(w->matches, w->targets);
  const SearchSpace& space = w->search.run(w->matches, w->targets, w->coarse, *weights, options_, keep);

  ForestBuilder builder(*model_, sentence, w->matches, w->targets, space, feature_names);
  if (keep == Keep::kForest) {
    out.forest = builder.forest();
    out.best = best_of(*out.forest, weights->values);
  } else {
    out.best = builder.best();
  }
  if (keep == Keep::kChart || keep == Keep::kSplits)
    out.chart = std::make_shared<Chart>(builder.chart(model_, weights));
  out.stats.cells = w->matches.cells.size();
  out.stats.hypotheses = space.hypotheses;
  out.stats.completed = space.completed.size();
  out.stats.lm_queries = w->targets.lm_queries() + space.lm_queries + builder.lm_queries();
  pool_->give_back(std::move(w));
  return out;
}

}  // namespace hiero
