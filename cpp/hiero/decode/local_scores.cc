#include "hiero/decode/local_scores.h"

#include <algorithm>
#include <bit>

namespace hiero {

void LocalScores::prepare(const TranslationModel& model, const Sentence& sentence, const Weights& weights,
                          Matches& matches) {
  model_ = &model;
  sentence_ = &sentence;
  matches_ = &matches;
  any_ = !(model.rule_features().empty() && model.span_features().empty() && model.gap_features().empty());
  if (!any_) return;
  note_orders();
  compute_spans(sentence, weights);
  compute_gaps(weights);
  compute_rows(weights);
}

void LocalScores::note_orders() {
  differs_.assign(matches_->target_sets.size(), !model_->rule_features().empty());
  if (!model_->rule_features().empty() || model_->gap_features().empty()) return;
  for (std::uint32_t s = 0; s < differs_.size(); ++s) {
    const auto& [t, arity, group] = matches_->target_sets[s];
    sentence_->table(t).estimates.touch(group.first_rule, group.count);
    const std::span<const std::uint8_t> flags = reordered(s);
    differs_[s] = arity > 0 && std::ranges::any_of(flags, [&](auto each) { return each != flags[0]; });
  }
}

std::span<const std::uint8_t> LocalScores::reordered(std::uint32_t set) const {
  const TargetSet& found = matches_->target_sets[set];
  return sentence_->table(found.table).estimates.reordered.subspan(found.group.first_rule, found.group.count);
}

// Where there is nothing to score, features are not asked: they may want to know more of a sentence than a
// blank line says.
void LocalScores::compute_spans(const Sentence& sentence, const Weights& weights) {
  span_rows_.clear();
  for (std::vector<double>& scores : span_scores_) scores.clear();
  if (model_->span_features().empty()) return;
  std::vector<std::int32_t> spans;
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  span_of_.clear();
  for (const Cell& cell : matches_->cells) {
    const std::uint64_t key = std::uint64_t{cell.begin} << 32 | cell.end;
    const auto [it, added] = number.try_emplace(key, static_cast<std::uint32_t>(number.size()));
    if (added)
      spans.insert(spans.end(), {static_cast<std::int32_t>(cell.begin), static_cast<std::int32_t>(cell.end)});
    span_of_.push_back(it->second);
  }
  for (std::vector<double>& scores : span_scores_) scores.assign(number.size(), 0.0);
  for (const auto& [features, first] : model_->span_features()) {
    SparseRows rows{{0}, {}, {}};
    if (!spans.empty()) rows = features->compute(sentence, spans);
    check_rows(rows, number.size(), features->names());
    for (std::size_t span = 0; span < number.size(); ++span) {
      double score = 0;
      rows.visit(span, [&](auto column, double value) {
        score += weights.natural(*model_, first + column) * value;
      });
      span_scores_[0][span] += score;
      if (features->goal()) span_scores_[1][span] += score;
    }
    span_rows_.push_back(std::move(rows));
  }
}

void LocalScores::compute_gaps(const Weights& weights) {
  gap_sizes_ = 0;
  for (const auto& [features, first] : model_->gap_features())
    gap_sizes_ = std::max(gap_sizes_, features->sizes);
  for (std::vector<double>& scores : gap_scores_) scores.assign(2 * std::size_t{gap_sizes_}, 0.0);
  for (const auto& [features, first] : model_->gap_features()) {
    for (std::size_t at = 0; at < gap_scores_[0].size(); ++at) {
      double score = 0;
      features->rows.visit(
          features->row(static_cast<std::uint32_t>(at / 2 + 1), at % 2 == 1),
          [&](auto column, double value) { score += weights.natural(*model_, first + column) * value; });
      gap_scores_[0][at] += score;
      if (features->goal) gap_scores_[1][at] += score;
    }
  }
}

void LocalScores::compute_rows(const Weights& weights) {
  rows_.clear();
  row_scores_.clear();
  if (model_->rule_features().empty()) return;
  const ApplicationBatch batch = describe_applications();
  row_scores_.assign(batch.size(), 0.0);
  for (const auto& [features, first] : model_->rule_features()) {
    SparseRows rows{{0}, {}, {}};
    if (batch.size() > 0) rows = features->compute(*sentence_, batch);
    check_rows(rows, batch.size(), features->names());
    for (std::size_t row = 0; row < batch.size(); ++row) {
      rows.visit(row, [&](auto column, double value) {
        row_scores_[row] += weights.natural(*model_, first + column) * value;
      });
    }
    rows_.push_back(std::move(rows));
  }
}

ApplicationBatch LocalScores::describe_applications() {
  ApplicationBatch batch;
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
      batch.reordered.push_back(reordered(application.targets)[slot]);
    }
  }
  return batch;
}

double LocalScores::of_gaps(const Application& application, std::uint8_t reordered) const {
  const std::vector<double>& scores = gap_scores_[is_goal(application) ? 1 : 0];
  if (scores.empty()) return 0;
  double sum = 0;
  for (CellId tail : matches_->tails(application)) {
    sum += scores[2 * (std::size_t{std::min(size_of(tail), gap_sizes_)} - 1) + (reordered & 1)];
    reordered >>= 1;
  }
  return sum;
}

double LocalScores::offset(const Application& application) const {
  double sum = 0;
  if (!span_scores_[0].empty()) sum += span_scores_[is_goal(application) ? 1 : 0][span_of_[application.cell]];
  if (!differs_[application.targets]) sum += of_gaps(application, reordered(application.targets)[0]);
  return sum;
}

double LocalScores::of_rule(const Application& application, std::uint32_t slot) const {
  return row_scores_[std::size_t{application.row} + slot] +
         of_gaps(application, reordered(application.targets)[slot]);
}

std::optional<std::uint64_t> LocalScores::key(const Application& application) const {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(gap_sizes_));
  if (bits * application.arity > 32) return std::nullopt;
  std::uint64_t sizes = 0;
  for (CellId tail : matches_->tails(application))
    sizes = sizes << bits | std::min(size_of(tail), gap_sizes_);
  return std::uint64_t{application.targets} << 32 | sizes;
}

}  // namespace hiero
