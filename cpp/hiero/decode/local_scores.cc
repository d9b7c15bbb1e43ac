#include "hiero/decode/local_scores.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace hiero {

LocalScores::LocalScores(const SentenceContext& context)
    : context_(context),
      any_(!(context.model.rule_features().empty() && context.model.span_features().empty() &&
             context.model.gap_features().empty() && context.sentence.lattice_features().empty())) {
  if (!any_) return;
  compare_reorderings();
  score_spans();
  score_gaps();
  score_rules();
}

// Finds the target sets whose rules have different local scores.
void LocalScores::compare_reorderings() {
  const TranslationModel& model = context_.model;
  differs_.assign(context_.matches.target_sets.size(), !model.rule_features().empty());
  if (!model.rule_features().empty() || model.gap_features().empty()) return;
  for (std::uint32_t s = 0; s < differs_.size(); ++s) {
    const TargetSet& set = context_.matches.target_sets[s];
    context_.sentence.table(set.table).estimates.touch(set.group.first_rule, set.group.count);
    const std::span<const std::uint8_t> flags = reordered(s);
    differs_[s] = set.arity > 0 && std::ranges::any_of(flags, [&](auto other) { return other != flags[0]; });
  }
}

std::span<const std::uint8_t> LocalScores::reordered(std::uint32_t set) const {
  const TargetSet& targets = context_.matches.target_sets[set];
  const RuleGroup& group = targets.group;
  return context_.sentence.table(targets.table).estimates.reordered.subspan(group.first_rule, group.count);
}

double LocalScores::score_row(const SparseRows& rows, std::size_t row, std::uint32_t first_feature) const {
  double score = 0;
  rows.visit(row, [&](auto column, double value) {
    score += context_.weights.natural(context_.model, first_feature + column) * value;
  });
  return score;
}

// Fills span_of_; returns begin and end of each span.
std::vector<std::int32_t> LocalScores::number_spans() {
  std::vector<std::int32_t> spans;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const Cell& cell : context_.matches.cells) {
    const std::uint64_t key = std::uint64_t{cell.begin} << 32 | cell.end;
    const auto [it, added] = numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size()));
    if (added)
      spans.insert(spans.end(), {static_cast<std::int32_t>(cell.begin), static_cast<std::int32_t>(cell.end)});
    span_of_.push_back(it->second);
  }
  return spans;
}

// Features are not called where there is nothing to score: a blank line may lack what they need of a
// sentence.
void LocalScores::score_spans() {
  if (context_.model.span_features().empty()) return;
  const std::vector<std::int32_t> spans = number_spans();
  const std::size_t count = spans.size() / 2;
  for (std::vector<double>& scores : span_scores_) scores.assign(count, 0.0);
  for (const auto& [features, first] : context_.model.span_features()) {
    SparseRows rows{{0}, {}, {}};
    if (count > 0) rows = features->compute(context_.sentence, spans);
    check_rows(rows, count, features->names());
    for (std::size_t span = 0; span < count; ++span) {
      const double score = score_row(rows, span, first);
      span_scores_[0][span] += score;
      if (features->goal()) span_scores_[1][span] += score;
    }
    span_rows_.push_back(std::move(rows));
  }
}

void LocalScores::score_gaps() {
  const auto& gap_features = context_.model.gap_features();
  for (const auto& [features, first] : gap_features) gap_sizes_ = std::max(gap_sizes_, features->sizes);
  for (std::vector<double>& scores : gap_scores_) scores.assign(2 * std::size_t{gap_sizes_}, 0.0);
  for (const auto& [features, first] : gap_features) {
    for (std::size_t at = 0; at < gap_scores_[0].size(); ++at) {
      const std::size_t row = features->row(static_cast<std::uint32_t>(at / 2 + 1), at % 2 == 1);
      const double score = score_row(features->rows, row, first);
      gap_scores_[0][at] += score;
      if (features->goal) gap_scores_[1][at] += score;
    }
  }
}

void LocalScores::score_rules() {
  if (context_.model.rule_features().empty()) return;
  const ApplicationBatch batch = describe_applications();
  row_scores_.assign(batch.size(), 0.0);
  for (const auto& [features, first] : context_.model.rule_features()) {
    SparseRows rows{{0}, {}, {}};
    if (batch.size() > 0) rows = features->compute(context_.sentence, batch);
    check_rows(rows, batch.size(), features->names());
    for (std::size_t row = 0; row < batch.size(); ++row) {
      rows.visit(row, [&](auto column, double value) {
        row_scores_[row] += context_.weights.natural(context_.model, first + column) * value;
      });
    }
    rows_.push_back(std::move(rows));
  }
}

ApplicationBatch LocalScores::describe_applications() {
  Matches& matches = context_.matches;
  ApplicationBatch batch;
  Applications& all = batch.applications;
  for (const TargetSet& set : matches.target_sets) all.arity = std::max(all.arity, set.arity);
  std::vector<std::int32_t> gaps(2 * std::size_t{all.arity});
  for (Application& application : matches.applications) {
    application.row = static_cast<std::uint32_t>(batch.size());
    const TargetSet& set = matches.target_sets[application.targets];
    const RuleGroup& group = set.group;
    const Cell& cell = matches.cells[application.cell];
    std::fill(gaps.begin(), gaps.end(), -1);
    std::size_t at = 0;
    for (CellId tail : matches.tails(application)) {
      gaps[at++] = static_cast<std::int32_t>(matches.cells[tail].begin);
      gaps[at++] = static_cast<std::int32_t>(matches.cells[tail].end);
    }
    const auto number = static_cast<std::uint32_t>(all.size());
    all.table.push_back(static_cast<std::int32_t>(set.table));
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

double LocalScores::gap_score(const Application& application, std::uint8_t reordered) const {
  const std::vector<double>& scores = gap_scores_[is_goal(application) ? 1 : 0];
  if (scores.empty()) return 0;
  double sum = 0;
  for (CellId tail : context_.matches.tails(application)) {
    sum += scores[2 * (std::size_t{std::min(size_of(tail), gap_sizes_)} - 1) + (reordered & 1)];
    reordered >>= 1;
  }
  return sum;
}

double LocalScores::arc_score(const Application& application) const {
  const Sentence& sentence = context_.sentence;
  double sum = 0;
  for (std::size_t k = 0; k < sentence.lattice_features().size(); ++k) {
    const double weight = context_.weights.values[sentence.lattice_features()[k]];
    for (const std::uint32_t arc : context_.matches.path(application))
      sum += weight * sentence.lattice().score(arc, k);
  }
  return sum;
}

double LocalScores::offset(const Application& application) const {
  double sum = arc_score(application);
  if (!span_scores_[0].empty()) sum += span_scores_[is_goal(application) ? 1 : 0][span_of_[application.cell]];
  if (!gap_scores_[0].empty() && !differs_[application.targets])
    sum += gap_score(application, reordered(application.targets)[0]);
  return sum;
}

double LocalScores::rule_score(const Application& application, std::uint32_t slot) const {
  return row_scores_[std::size_t{application.row} + slot] +
         gap_score(application, reordered(application.targets)[slot]);
}

std::optional<std::uint64_t> LocalScores::gap_key(const Application& application) const {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(gap_sizes_));
  if (bits * application.arity > 32) return std::nullopt;
  std::uint64_t sizes = 0;
  for (CellId tail : context_.matches.tails(application))
    sizes = sizes << bits | std::min(size_of(tail), gap_sizes_);
  return std::uint64_t{application.targets} << 32 | sizes;
}

}  // namespace hiero
