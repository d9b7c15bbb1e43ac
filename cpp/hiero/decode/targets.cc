#include "hiero/decode/targets.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hiero/base/error.h"

namespace hiero {
namespace {

constexpr std::uint32_t kFirstMerged = 8;  // capacity for the targets of a merge

bool better(const Target& a, const Target& b) {
  return a.score != b.score ? a.score > b.score : a.slot < b.slot;
}

[[noreturn]] void throw_not_finite() {
  throw Error("the score of a rule with its local features is not finite");
}

}  // namespace

SentenceTargets::SentenceTargets(const SentenceContext& context, TargetScratch& scratch)
    : context_(context), record_(scratch.record), words_(scratch.words), local_(context) {
  const std::size_t sets = context.matches.target_sets.size();
  const std::size_t tables = context.model.tables().size();
  if (context.sentence.table_count() > tables)
    sentence_table_weights_ = context.weights.for_table(context.model, context.sentence.table(tables));
  lists_.resize(sets);
  reorderings_.resize(sets);
  sides_.resize(sets);
  for (std::uint32_t set = 0; set < sets; ++set) score_set(set);
  if (local_.any()) apply_local_features();
}

void SentenceTargets::score_set(std::uint32_t set) {
  const TargetSet& targets = context_.matches.target_sets[set];
  const std::uint32_t t = targets.table;
  const RuleGroup& group = targets.group;
  const std::uint32_t count = targets.size();
  const BoundTable& bound = context_.sentence.table(t);
  const Weights& weights = context_.weights;
  const std::vector<double>& by_feature =
      t < weights.by_table.size() ? weights.by_table[t] : sentence_table_weights_;
  const std::size_t lms = weights.lm.size();
  const std::uint32_t width = bound.table->dense_count();
  const float* dense = bound.table->dense(group.first_rule, group.count).data();
  const RuleEstimates& estimates = bound.estimates;
  estimates.touch(group.first_rule, group.count);
  const double constant = bound.is_extracted && !bound.has_rule_penalty ? weights.rule_penalty : 0.0;

  Target* out = context_.arena.array<Target>(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = context_.matches.slot(targets, i);
    const std::size_t rule = std::size_t{group.first_rule} + slot;
    const float* const values = dense + std::size_t{slot} * width;
    double score = constant - weights.word_penalty * estimates.target_words[rule];
    for (std::uint32_t f = 0; f < width; ++f) score += by_feature[f] * values[f];
    for (std::size_t k = 0; k < lms; ++k) score += weights.lm[k] * estimates.lm_estimate[rule * lms + k];
    if (estimates.any_oov) {
      for (std::size_t k = 0; k < lms; ++k) score += weights.oov[k] * estimates.oov[rule * lms + k];
    }
    if (estimates.any_sparse && estimates.has_sparse[rule])
      score += score_sparse(bound, by_feature, static_cast<RuleId>(rule));
    // Weights are finite, so this is a damaged table or a sum out of range; neither can be sorted.
    if (!std::isfinite(static_cast<float>(score))) {
      throw FormatError(bound.table->name() + ": the score of rule " + std::to_string(rule) +
                        " is not finite");
    }
    out[i] = {static_cast<float>(score), slot};
  }
  sides_[set] = context_.arena.array<TargetSide*>(group.count);
  std::fill_n(sides_[set], group.count, nullptr);
  if (!local_.differs(set)) {
    lists_[set] = sorted(out, count);
  } else if (local_.by_rule()) {
    lists_[set] = {out, count};
  } else {
    reorderings_[set] = group_by_reordering(set, {out, count});
  }
}

double SentenceTargets::score_sparse(const BoundTable& bound, const std::vector<double>& weights,
                                     RuleId rule) {
  bound.table->record(rule, record_);
  double score = 0;
  for (const SparseFeature& feature : record_.sparse) score += weights[feature.feature] * feature.value;
  return score;
}

// Gives every application its offset and, where local features change the order of its rules, a list or a
// merge.
void SentenceTargets::apply_local_features() {
  std::unordered_map<std::uint64_t, Merge*> merges;
  for (const Application& application : context_.matches.applications) {
    offsets_.push_back(local_.offset(application));
    if (!std::isfinite(offsets_.back())) throw_not_finite();
    if (local_.by_rule()) {
      application_lists_.push_back(add_rule_scores(application));
      continue;
    }
    Merge* merge = nullptr;
    if (local_.differs(application.targets)) {
      const std::optional<std::uint64_t> key = local_.gap_key(application);
      Merge*& shared = key ? merges[*key] : merge;
      if (!shared) shared = start_merge(application);
      merge = shared;
    }
    merges_.push_back(merge);
  }
}

std::span<const Target> SentenceTargets::add_rule_scores(const Application& application) {
  const std::span<const Target> scored = lists_[application.targets];
  Target* copy = context_.arena.array<Target>(scored.size());
  std::copy(scored.begin(), scored.end(), copy);
  for (Target& target : std::span(copy, scored.size())) {
    target.score += static_cast<float>(local_.rule_score(application, target.slot));
    if (!std::isfinite(target.score)) throw_not_finite();
  }
  return sorted(copy, static_cast<std::uint32_t>(scored.size()));
}

std::span<const SentenceTargets::Reordering> SentenceTargets::group_by_reordering(
    std::uint32_t set, std::span<const Target> targets) {
  const std::span<const std::uint8_t> reordered = local_.reordered(set);
  std::array<std::uint32_t, 256> ends{};
  for (const Target& target : targets) ++ends[reordered[target.slot]];
  const auto groups = static_cast<std::size_t>(std::ranges::count_if(ends, [](auto n) { return n > 0; }));
  Reordering* out = context_.arena.array<Reordering>(groups);
  Target* grouped = context_.arena.array<Target>(targets.size());
  std::uint32_t first = 0;
  std::size_t group = 0;
  for (std::size_t flags = 0; flags < ends.size(); ++flags) {
    if (ends[flags] == 0) continue;
    out[group++] = {static_cast<std::uint8_t>(flags), {grouped + first, ends[flags]}};
    first = std::exchange(ends[flags], first) + first;
  }
  for (const Target& target : targets) grouped[ends[reordered[target.slot]]++] = target;
  for (const Reordering& reordering : std::span(out, groups)) {
    Target* const begin = grouped + (reordering.targets.data() - grouped);
    std::sort(begin, begin + reordering.targets.size(), better);
  }
  return {out, groups};
}

SentenceTargets::Merge* SentenceTargets::start_merge(const Application& application) {
  const std::span<const Reordering> reorderings = reorderings_[application.targets];
  Head* heads = context_.arena.array<Head>(reorderings.size());
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < reorderings.size(); ++i) {
    const auto& [reordered, targets] = reorderings[i];
    const auto gap_score = static_cast<float>(local_.gap_score(application, reordered));
    // The best and the worst bound all others.
    if (!std::isfinite(targets.front().score + gap_score) ||
        !std::isfinite(targets.back().score + gap_score)) {
      throw_not_finite();
    }
    heads[i] = {targets, gap_score};
    size += static_cast<std::uint32_t>(targets.size());
  }
  if (context_.options.ttable_limit > 0) size = std::min(size, context_.options.ttable_limit);
  return context_.arena.make<Merge>(std::span(heads, reorderings.size()), nullptr, 0u, 0u, size);
}

const Target& SentenceTargets::merged_target(Merge& merge, std::uint32_t position) {
  while (merge.merged <= position) merge_next(merge);
  return merge.targets[position];
}

void SentenceTargets::merge_next(Merge& merge) {
  if (merge.merged == merge.capacity) {
    merge.capacity = std::min(std::max(kFirstMerged, 2 * merge.capacity), merge.size);
    Target* const targets = context_.arena.array<Target>(merge.capacity);
    std::copy_n(merge.targets, merge.merged, targets);
    merge.targets = targets;
  }
  Head* best_head = nullptr;
  Target best{};
  for (Head& head : merge.heads) {
    if (head.rest.empty()) continue;
    const Target target{head.rest.front().score + head.gap_score, head.rest.front().slot};
    if (best_head && !better(target, best)) continue;
    best_head = &head;
    best = target;
  }
  best_head->rest = best_head->rest.subspan(1);
  merge.targets[merge.merged++] = best;
}

// Sorts the targets, and keeps the best within the ttable limit.
std::span<const Target> SentenceTargets::sorted(Target* targets, std::uint32_t count) const {
  const std::uint32_t limit = context_.options.ttable_limit;
  if (limit > 0 && count > limit) {
    std::nth_element(targets, targets + limit, targets + count, better);
    count = limit;
  }
  std::sort(targets, targets + count, better);
  return {targets, count};
}

bool SentenceTargets::follows_bos(const Application& application) const {
  const auto is_goal = [this](CellId cell) {
    return context_.model.is_goal(context_.matches.cells[cell].label);
  };
  return context_.model.goal_has_bos() && is_goal(application.cell) &&
         std::ranges::none_of(context_.matches.tails(application), is_goal);
}

const TargetSide& SentenceTargets::side(const Application& application, std::uint32_t slot) {
  TargetSide*& cached = sides_[application.targets][slot];
  if (cached) return *cached;
  const TargetSet& set = context_.matches.target_sets[application.targets];
  const RuleGroup& group = set.group;
  const BoundTable& bound = context_.sentence.table(set.table);
  bound.table->record(group.first_rule + slot, record_);
  TargetSide* side = context_.arena.array<TargetSide>(1);
  Symbol* symbols = context_.arena.array<Symbol>(record_.target.size());
  std::copy(record_.target.begin(), record_.target.end(), symbols);
  side->symbols = symbols;
  side->size = static_cast<std::uint32_t>(record_.target.size());
  side->arity = 0;
  for (std::uint32_t i = 0; i < side->size; ++i) {
    if (is_nonterminal(symbols[i]) && side->arity < kMaxArity)
      side->order[side->arity++] = static_cast<std::uint8_t>(payload(symbols[i]));
  }
  if (side->arity != set.arity) {
    throw FormatError(bound.table->name() + ": damaged rule table: nonterminals of rule " +
                      std::to_string(group.first_rule + slot));
  }
  side->chunks = score_chunks(bound, follows_bos(application), *side);
  cached = side;
  return *side;
}

const ChartState* SentenceTargets::score_chunks(const BoundTable& bound, bool after_bos, TargetSide& side) {
  const auto& lms = context_.model.lms();
  ChartState* chunks = context_.arena.array<ChartState>((side.arity + 1u) * lms.size());
  double bos_change = 0;
  for (std::size_t k = 0; k < lms.size(); ++k) {
    const std::span<const LmWord> lm_words = bound.estimates.lm_words[k];
    std::uint32_t at = 0;
    for (std::uint32_t chunk = 0; chunk <= side.arity; ++chunk, ++at) {
      words_.clear();
      for (; at < side.size && !is_nonterminal(side.symbols[at]); ++at)
        words_.push_back(lm_words[side.symbols[at]]);
      ChartState& state = chunks[chunk * lms.size() + k];
      const float score = lms[k]->score_terminals(words_, false, state, lm_queries_);
      if (after_bos && chunk == 0) {
        const float after = lms[k]->score_terminals(words_, true, state, lm_queries_);
        bos_change += context_.weights.lm[k] * (after - score);
      }
    }
  }
  side.bos_change = static_cast<float>(bos_change);
  return chunks;
}

}  // namespace hiero
