#include "hiero/decode/decoder.h"

#include <stdexcept>

#include "hiero/base/arena.h"
#include "hiero/decode/coarse.h"
#include "hiero/decode/forest_builder.h"
#include "hiero/decode/matcher.h"
#include "hiero/decode/search.h"
#include "hiero/decode/targets.h"

namespace hiero {

struct Decoder::Workspace {
  explicit Workspace(const TranslationModel& model) : matcher(model), search(model, arena) {}

  Arena arena;
  Matcher matcher;
  Chart chart;
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
      feature_names_(std::make_shared<const std::vector<std::string>>(model_->features().names())),
      pool_(std::make_shared<WorkspacePool>()) {
  if (options_.span_limit == 0) throw std::invalid_argument("span_limit must be at least 1");
  if (!(options_.beam_threshold >= 0)) throw std::invalid_argument("beam_threshold must not be negative");
}

Decoder Decoder::with_weights(std::shared_ptr<const Weights> weights) const {
  Decoder other(*this);
  other.weights_ = std::move(weights);
  return other;
}

Translation Decoder::translate(std::vector<std::string> tokens, const std::vector<Rule>& rules,
                               Keep keep) const {
  const Sentence sentence(*model_, std::move(tokens), rules, options_.pass_through);
  // A workspace is lost, not returned, when decoding throws: its state is unknown then.
  std::unique_ptr<Workspace> w = pool_->take(*model_);
  w->arena.reset();
  w->matcher.run(sentence, options_.span_limit, w->chart);

  Translation out;
  out.weights = weights_;
  out.unknown = sentence.unknown();
  out.stats.applications = w->chart.applications.size();
  w->targets.prepare(*model_, sentence, *weights_, options_, w->chart, w->arena);
  if (w->chart.goal != kNoCell) w->coarse.run(w->chart, w->targets);
  w->search.run(w->chart, w->targets, w->coarse, *weights_, options_, keep != Keep::kNone);

  ForestBuilder builder(*model_, sentence, w->chart, w->targets, w->search, feature_names_);
  out.best = builder.best();
  if (keep == Keep::kForest) out.forest = builder.forest();
  if (keep == Keep::kChart) out.chart = builder.chart(out.survivors);
  out.stats.cells = w->chart.cells.size();
  out.stats.hypotheses = w->search.hypotheses();
  out.stats.lm_queries = w->targets.lm_queries() + w->search.lm_queries() + builder.lm_queries();
  pool_->give_back(std::move(w));
  return out;
}

}  // namespace hiero
