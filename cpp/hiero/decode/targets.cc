#include "hiero/decode/targets.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hiero/base/error.h"

namespace hiero {
namespace {

bool better(const Target& a, const Target& b) {
  return a.score != b.score ? a.score > b.score : a.slot < b.slot;
}

void check_rows(const SparseRows& rows, std::size_t expected, const LocalFeatures& features) {
  const std::vector<std::string>& names = features.names();
  const bool shape = rows.offsets.size() == expected + 1 && rows.offsets.front() == 0 &&
                     rows.offsets.back() == static_cast<std::int64_t>(rows.columns.size()) &&
                     rows.columns.size() == rows.values.size() &&
                     std::is_sorted(rows.offsets.begin(), rows.offsets.end());
  if (!shape) {
    throw std::invalid_argument(described(features) + ": expected a sparse matrix of " +
                                std::to_string(expected) + " rows");
  }
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    const std::int32_t column = rows.columns[i];
    if (column < 0 || static_cast<std::size_t>(column) >= names.size()) {
      throw std::invalid_argument(described(features) + ": column " + std::to_string(column) + " of " +
                                  std::to_string(names.size()));
    }
    if (!std::isfinite(rows.values[i])) {
      throw std::invalid_argument("local feature " + names[static_cast<std::size_t>(column)] +
                                  ": expected finite values, got " + std::to_string(rows.values[i]));
    }
  }
}

}  // namespace

void SentenceTargets::prepare(const TranslationModel& model, const Sentence& sentence, const Weights& weights,
                              const DecoderOptions& options, Matches& matches, Arena& arena) {
  model_ = &model;
  sentence_ = &sentence;
  weights_ = &weights;
  options_ = &options;
  matches_ = &matches;
  arena_ = &arena;
  lm_queries_ = 0;
  own_lists_.clear();
  local_rows_.clear();
  if (sentence.table_count() > model.tables().size()) {
    own_weights_ = weights.of_table(sentence.table(model.tables().size()));
  }
  lists_.resize(matches.target_sets.size());
  sides_.resize(matches.target_sets.size());
  for (std::uint32_t set = 0; set < matches.target_sets.size(); ++set) score_set(set);
  if (!model.local_features().empty()) score_local_features();
}

void SentenceTargets::score_set(std::uint32_t set) {
  const auto& [t, arity, group] = matches_->target_sets[set];
  const BoundTable& bound = sentence_->table(t);
  const std::vector<double>& weights = t < weights_->by_table.size() ? weights_->by_table[t] : own_weights_;
  const std::size_t lms = weights_->lm.size();
  const std::uint32_t width = bound.table->dense_count();
  const float* dense = bound.table->dense(group.first_rule, group.count).data();
  const RuleStatics& statics = bound.statics;
  statics.touch(group.first_rule, group.count);
  const double constant = bound.is_extracted && !bound.own_rule_penalty ? weights_->rule_penalty : 0.0;

  Target* out = arena_->array<Target>(group.count);
  for (std::uint32_t slot = 0; slot < group.count; ++slot, dense += width) {
    const std::size_t rule = std::size_t{group.first_rule} + slot;
    double score = constant - weights_->word_penalty * statics.target_words[rule];
    for (std::uint32_t f = 0; f < width; ++f) score += weights[f] * dense[f];
    for (std::size_t k = 0; k < lms; ++k) score += weights_->lm[k] * statics.lm_estimate[rule * lms + k];
    if (statics.any_oov) {
      for (std::size_t k = 0; k < lms; ++k) score += weights_->oov[k] * statics.oov[rule * lms + k];
    }
    if (statics.any_sparse && statics.has_sparse[rule]) {
      score += score_sparse(bound, weights, static_cast<RuleId>(rule));
    }
    // Weights are finite, so this is a damaged table or a sum out of range; neither can be sorted.
    if (!std::isfinite(static_cast<float>(score))) {
      throw FormatError(bound.table->path() + ": the score of rule " + std::to_string(rule) +
                        " is not finite");
    }
    out[slot] = {static_cast<float>(score), slot};
  }
  sides_[set] = arena_->array<TargetSide*>(group.count);
  std::fill_n(sides_[set], group.count, nullptr);
  std::uint32_t count = group.count;
  if (model_->local_features().empty()) {
    if (options_->ttable_limit > 0 && count > options_->ttable_limit) {
      std::nth_element(out, out + options_->ttable_limit, out + count, better);
      count = options_->ttable_limit;
    }
    std::sort(out, out + count, better);
  }
  lists_[set] = {out, count};
}

double SentenceTargets::score_sparse(const BoundTable& bound, const std::vector<double>& weights,
                                     RuleId rule) {
  bound.table->record(rule, record_);
  double score = 0;
  for (const SparseFeature& feature : record_.sparse) score += weights[feature.feature] * feature.value;
  return score;
}

void SentenceTargets::describe_applications(ApplicationBatch& batch) {
  Applications& all = batch.applications;
  for (const TargetSet& set : matches_->target_sets) all.arity = std::max(all.arity, set.arity);
  std::vector<std::int32_t> gaps(2 * std::size_t{all.arity});
  for (Application& application : matches_->applications) {
    application.row = static_cast<std::uint32_t>(batch.size());
    const auto& [t, arity, group] = matches_->target_sets[application.targets];
    const Cell& cell = matches_->cells[application.cell];
    std::fill(gaps.begin(), gaps.end(), -1);
    std::size_t at = 0;
    for (CellId tail : matches_->tails(application)) {
      gaps[at++] = static_cast<std::int32_t>(matches_->cells[tail].begin);
      gaps[at++] = static_cast<std::int32_t>(matches_->cells[tail].end);
    }
    const auto number = static_cast<std::uint32_t>(all.size());
    all.table.push_back(static_cast<std::int32_t>(t));
    all.label.push_back(cell.label);
    all.span.insert(all.span.end(),
                    {static_cast<std::int32_t>(cell.begin), static_cast<std::int32_t>(cell.end)});
    all.gaps.insert(all.gaps.end(), gaps.begin(), gaps.end());
    for (std::uint32_t slot = 0; slot < group.count; ++slot) {
      batch.application.push_back(number);
      batch.rule.push_back(group.first_rule + slot);
      sentence_->table(t).table->record(group.first_rule + slot, record_);
      batch.reordered.push_back(record_.reordered);
    }
  }
}

// One batch of the whole sentence goes through every extractor; afterwards each application has a target
// list of its own.
void SentenceTargets::score_local_features() {
  ApplicationBatch batch;
  describe_applications(batch);
  std::vector<double> change(batch.size(), 0.0);
  for (std::size_t x = 0; x < model_->local_features().size(); ++x) {
    const LocalFeatures& extractor = *model_->local_features()[x];
    SparseRows rows = extractor.compute(sentence_->tokens(), batch);
    check_rows(rows, batch.size(), extractor);
    const double* weights = weights_->values.data() + model_->local_feature(x);
    for (std::size_t row = 0; row < batch.size(); ++row) {
      for (std::int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
        change[row] += weights[rows.columns[i]] * rows.values[i];
      }
    }
    local_rows_.push_back(std::move(rows));
  }
  for (const Application& application : matches_->applications) {
    const std::span<const Target> shared = lists_[application.targets];
    Target* own = arena_->array<Target>(shared.size());
    std::copy(shared.begin(), shared.end(), own);
    std::size_t count = shared.size();
    for (std::size_t i = 0; i < count; ++i) {
      own[i].score += static_cast<float>(change[application.row + own[i].slot]);
      if (!std::isfinite(own[i].score))
        throw Error("the score of a rule with its local features is not finite");
    }
    if (options_->ttable_limit > 0 && count > options_->ttable_limit) {
      std::nth_element(own, own + options_->ttable_limit, own + count, better);
      count = options_->ttable_limit;
    }
    std::sort(own, own + count, better);
    own_lists_.emplace_back(own, count);
  }
}

bool SentenceTargets::follows_bos(const Application& application) const {
  const auto is_goal = [this](CellId cell) { return model_->is_goal(matches_->cells[cell].label); };
  return model_->goal_has_bos() && is_goal(application.cell) &&
         std::ranges::none_of(matches_->tails(application), is_goal);
}

const TargetSide& SentenceTargets::side(const Application& application, std::uint32_t slot) {
  TargetSide*& cached = sides_[application.targets][slot];
  if (cached) return *cached;
  const auto& [t, arity, group] = matches_->target_sets[application.targets];
  const BoundTable& bound = sentence_->table(t);
  bound.table->record(group.first_rule + slot, record_);
  TargetSide* side = arena_->array<TargetSide>(1);
  Symbol* symbols = arena_->array<Symbol>(record_.target.size());
  std::copy(record_.target.begin(), record_.target.end(), symbols);
  side->symbols = symbols;
  side->size = static_cast<std::uint32_t>(record_.target.size());
  side->arity = 0;
  for (std::uint32_t i = 0; i < side->size; ++i) {
    if (is_nonterminal(symbols[i]) && side->arity < kMaxArity)
      side->order[side->arity++] = static_cast<std::uint8_t>(payload(symbols[i]));
  }
  if (side->arity != arity) {
    throw FormatError(bound.table->path() + ": damaged rule table: nonterminals of rule " +
                      std::to_string(group.first_rule + slot));
  }
  side->chunks = score_chunks(bound, follows_bos(application), *side);
  cached = side;
  return *side;
}

const ChartState* SentenceTargets::score_chunks(const BoundTable& bound, bool after_bos, TargetSide& side) {
  const std::size_t lms = model_->lms().size();
  ChartState* chunks = arena_->array<ChartState>((side.arity + 1u) * lms);
  double bos_change = 0;
  for (std::size_t k = 0; k < lms; ++k) {
    const std::span<const LmWord> lm_words = bound.statics.lm_words[k];
    std::uint32_t at = 0;
    for (std::uint32_t chunk = 0; chunk <= side.arity; ++chunk, ++at) {
      words_.clear();
      for (; at < side.size && !is_nonterminal(side.symbols[at]); ++at)
        words_.push_back(lm_words[side.symbols[at]]);
      ChartState& state = chunks[chunk * lms + k];
      const float score = model_->lms()[k]->score_terminals(words_, false, state, lm_queries_);
      if (after_bos && chunk == 0) {
        const float after = model_->lms()[k]->score_terminals(words_, true, state, lm_queries_);
        bos_change += weights_->lm[k] * (after - score);
      }
    }
  }
  side.bos_change = static_cast<float>(bos_change);
  return chunks;
}

}  // namespace hiero
