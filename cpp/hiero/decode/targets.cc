#include "hiero/decode/targets.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hiero/base/error.h"

namespace hiero {
namespace {

bool better(const Target& a, const Target& b) {
  return a.score != b.score ? a.score > b.score : a.slot < b.slot;
}

[[noreturn]] void throw_not_finite() {
  throw Error("the score of a rule with its local features is not finite");
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
  merges_.clear();
  offsets_.clear();
  if (sentence.table_count() > model.tables().size()) {
    own_weights_ = weights.for_table(model, sentence.table(model.tables().size()));
  }
  lists_.resize(matches.target_sets.size());
  kinds_.resize(matches.target_sets.size());
  sides_.resize(matches.target_sets.size());
  local_.prepare(model, sentence, weights, matches);
  for (std::uint32_t set = 0; set < matches.target_sets.size(); ++set) score_set(set);
  if (local_.any()) apply_local_features();
}

void SentenceTargets::score_set(std::uint32_t set) {
  const auto& [t, arity, group] = matches_->target_sets[set];
  const BoundTable& bound = sentence_->table(t);
  const std::vector<double>& weights = t < weights_->by_table.size() ? weights_->by_table[t] : own_weights_;
  const std::size_t lms = weights_->lm.size();
  const std::uint32_t width = bound.table->dense_count();
  const float* dense = bound.table->dense(group.first_rule, group.count).data();
  const RuleEstimates& estimates = bound.estimates;
  estimates.touch(group.first_rule, group.count);
  const double constant = bound.is_extracted && !bound.has_rule_penalty ? weights_->rule_penalty : 0.0;

  Target* out = arena_->array<Target>(group.count);
  for (std::uint32_t slot = 0; slot < group.count; ++slot, dense += width) {
    const std::size_t rule = std::size_t{group.first_rule} + slot;
    double score = constant - weights_->word_penalty * estimates.target_words[rule];
    for (std::uint32_t f = 0; f < width; ++f) score += weights[f] * dense[f];
    for (std::size_t k = 0; k < lms; ++k) score += weights_->lm[k] * estimates.lm_estimate[rule * lms + k];
    if (estimates.any_oov) {
      for (std::size_t k = 0; k < lms; ++k) score += weights_->oov[k] * estimates.oov[rule * lms + k];
    }
    if (estimates.any_sparse && estimates.has_sparse[rule]) {
      score += score_sparse(bound, weights, static_cast<RuleId>(rule));
    }
    // Weights are finite, so this is a damaged table or a sum out of range; neither can be sorted.
    if (!std::isfinite(static_cast<float>(score))) {
      throw FormatError(bound.table->name() + ": the score of rule " + std::to_string(rule) +
                        " is not finite");
    }
    out[slot] = {static_cast<float>(score), slot};
  }
  sides_[set] = arena_->array<TargetSide*>(group.count);
  std::fill_n(sides_[set], group.count, nullptr);
  if (!local_.differs(set)) {
    lists_[set] = sorted(out, group.count);
  } else if (local_.by_rule()) {
    lists_[set] = {out, group.count};
  } else {
    kinds_[set] = kinds_of(set, out);
  }
}

double SentenceTargets::score_sparse(const BoundTable& bound, const std::vector<double>& weights,
                                     RuleId rule) {
  bound.table->record(rule, record_);
  double score = 0;
  for (const SparseFeature& feature : record_.sparse) score += weights[feature.feature] * feature.value;
  return score;
}

// Gives applications what local features say of them; where that changes the order of rules, a list of their
// own, or a merge that they share with others.
void SentenceTargets::apply_local_features() {
  std::unordered_map<std::uint64_t, Merge*> merges;
  for (const Application& application : matches_->applications) {
    offsets_.push_back(local_.offset(application));
    if (!std::isfinite(offsets_.back())) throw_not_finite();
    if (local_.by_rule()) {
      own_lists_.push_back(with_local_scores(application));
    } else {
      Merge* merge = nullptr;
      if (local_.differs(application.targets)) {
        const std::optional<std::uint64_t> key = local_.key(application);
        Merge*& known = key ? merges[*key] : merge;
        if (!known) known = merge_of(application);
        merge = known;
      }
      merges_.push_back(merge);
    }
  }
}

std::span<const Target> SentenceTargets::with_local_scores(const Application& application) {
  const std::span<const Target> scored = lists_[application.targets];
  Target* own = arena_->array<Target>(scored.size());
  std::copy(scored.begin(), scored.end(), own);
  for (Target& target : std::span(own, scored.size())) {
    target.score += static_cast<float>(local_.of_rule(application, target.slot));
    if (!std::isfinite(target.score)) throw_not_finite();
  }
  return sorted(own, static_cast<std::uint32_t>(scored.size()));
}

// A set's targets by what they reorder, each kind best first.
std::span<const SentenceTargets::Kind> SentenceTargets::kinds_of(std::uint32_t set, Target* targets) {
  const std::uint32_t count = matches_->target_sets[set].group.count;
  const std::span<const std::uint8_t> reordered = local_.reordered(set);
  std::array<std::uint32_t, 256> ends{};
  for (std::uint32_t slot = 0; slot < count; ++slot) ++ends[reordered[slot]];
  const auto kinds = static_cast<std::size_t>(std::ranges::count_if(ends, [](auto n) { return n > 0; }));
  Kind* out = arena_->array<Kind>(kinds);
  Target* grouped = arena_->array<Target>(count);
  std::uint32_t first = 0;
  std::size_t kind = 0;
  for (std::size_t flags = 0; flags < ends.size(); ++flags) {
    if (ends[flags] == 0) continue;
    out[kind++] = {static_cast<std::uint8_t>(flags), {grouped + first, ends[flags]}};
    first = std::exchange(ends[flags], first) + first;
  }
  for (const Target& target : std::span(targets, count)) grouped[ends[reordered[target.slot]]++] = target;
  for (Kind& each : std::span(out, kinds)) {
    Target* const begin = grouped + (each.targets.data() - grouped);
    std::sort(begin, begin + each.targets.size(), better);
  }
  return {out, kinds};
}

SentenceTargets::Merge* SentenceTargets::merge_of(const Application& application) {
  const std::span<const Kind> kinds = kinds_[application.targets];
  Head* heads = arena_->array<Head>(kinds.size());
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto change = static_cast<float>(local_.of_gaps(application, kinds[i].reordered));
    // The best and the worst bound all others.
    if (!std::isfinite(kinds[i].targets.front().score + change) ||
        !std::isfinite(kinds[i].targets.back().score + change)) {
      throw_not_finite();
    }
    heads[i] = {kinds[i].targets, change};
    size += static_cast<std::uint32_t>(kinds[i].targets.size());
  }
  if (options_->ttable_limit > 0) size = std::min(size, options_->ttable_limit);
  return arena_->make<Merge>(std::span(heads, kinds.size()), nullptr, 0u, 0u, size);
}

const Target& SentenceTargets::merged(Merge& merge, std::uint32_t position) {
  while (merge.made <= position) {
    if (merge.made == merge.room) {
      merge.room = std::min(std::max(8u, 2 * merge.room), merge.size);
      Target* const targets = arena_->array<Target>(merge.room);
      std::copy_n(merge.targets, merge.made, targets);
      merge.targets = targets;
    }
    Head* best = nullptr;
    Target found{};
    for (Head& head : merge.heads) {
      if (head.rest.empty()) continue;
      const Target target{head.rest.front().score + head.change, head.rest.front().slot};
      if (best && !better(target, found)) continue;
      best = &head;
      found = target;
    }
    best->rest = best->rest.subspan(1);
    merge.targets[merge.made++] = found;
  }
  return merge.targets[position];
}

// The best of these, best first.
std::span<const Target> SentenceTargets::sorted(Target* targets, std::uint32_t count) const {
  if (options_->ttable_limit > 0 && count > options_->ttable_limit) {
    std::nth_element(targets, targets + options_->ttable_limit, targets + count, better);
    count = options_->ttable_limit;
  }
  std::sort(targets, targets + count, better);
  return {targets, count};
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
    throw FormatError(bound.table->name() + ": damaged rule table: nonterminals of rule " +
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
    const std::span<const LmWord> lm_words = bound.estimates.lm_words[k];
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
