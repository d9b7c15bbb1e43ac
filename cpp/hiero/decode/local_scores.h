// What the local features of a model say of a sentence's rule applications, as scores during search and as
// features afterwards.
//
// Most of it is the same for all rules of an application: that of its span, and of its gaps where all rules
// of its target set reorder them alike. This is the application's offset, and leaves the set's order as it
// is. What differs by rule is scored for one application after the other, by_rule(); but where that comes of
// gaps alone, it is the same for rules that reorder the same, and for applications of a set whose gaps have
// the same sizes, which have the same key.
//
// How to use: prepare() once per sentence; then offset(a) for every application, and of_rule(a, slot) or
// of_gaps(a, reordered) where differs(set). visit(), for an application and a slot, calls with the features.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/weights.h"

namespace hiero {

class LocalScores {
 public:
  // Calls all local features of the model. Throws what they throw, and std::invalid_argument for answers
  // that are none.
  void prepare(const TranslationModel& model, const Sentence& sentence, const Weights& weights,
               Matches& matches);

  bool any() const { return any_; }
  // Whether the rules of a target set differ in what they have besides offset().
  bool differs(std::uint32_t set) const { return any_ && differs_[set]; }
  // Whether more than the gaps makes them differ.
  bool by_rule() const { return !rows_.empty(); }
  double offset(const Application& application) const;
  // What the rules of a target set reorder, by slot.
  std::span<const std::uint8_t> reordered(std::uint32_t set) const;
  double of_gaps(const Application& application, std::uint8_t reordered) const;
  double of_rule(const Application& application, std::uint32_t slot) const;
  // Applications with the same key have the same of_gaps(). None: it is their own.
  std::optional<std::uint64_t> key(const Application& application) const;

  // Calls use(feature, value), with the model's numbers of features.
  template <class Use>
  void visit(const Application& application, std::uint32_t slot, const Use& use) const;

 private:
  void note_orders();
  void compute_spans(const Sentence& sentence, const Weights& weights);
  void compute_gaps(const Weights& weights);
  void compute_rows(const Weights& weights);
  ApplicationBatch describe_applications();
  bool is_goal(const Application& application) const {
    return model_->is_goal(matches_->cells[application.cell].label);
  }
  std::uint32_t size_of(CellId cell) const { return matches_->cells[cell].end - matches_->cells[cell].begin; }

  const TranslationModel* model_ = nullptr;
  const Sentence* sentence_ = nullptr;
  Matches* matches_ = nullptr;
  bool any_ = false;
  std::vector<std::uint8_t> differs_;   // by target set
  std::vector<std::uint32_t> span_of_;  // by cell
  std::vector<SparseRows> span_rows_;   // by span features, then span
  // By whether the goal is meant, and then span.
  std::vector<double> span_scores_[2];
  // The same, and then size and reordering, as in GapFeatures::row.
  std::vector<double> gap_scores_[2];
  std::uint32_t gap_sizes_ = 0;
  std::vector<SparseRows> rows_;  // by local features, then row
  std::vector<double> row_scores_;
};

template <class Use>
void LocalScores::visit(const Application& application, std::uint32_t slot, const Use& use) const {
  const bool goal = is_goal(application);
  const auto from = [&use](std::uint32_t first) {
    return [&use, first](std::uint32_t column, double value) { use(first + column, value); };
  };
  for (std::size_t x = 0; x < rows_.size(); ++x)
    rows_[x].visit(std::size_t{application.row} + slot, from(model_->rule_features()[x].first));
  for (std::size_t x = 0; x < span_rows_.size(); ++x) {
    const auto& [features, first] = model_->span_features()[x];
    if (!goal || features->goal()) span_rows_[x].visit(span_of_[application.cell], from(first));
  }
  if (model_->gap_features().empty() || application.arity == 0) return;
  std::uint8_t flags = reordered(application.targets)[slot];
  for (CellId tail : matches_->tails(application)) {
    for (const auto& [features, first] : model_->gap_features()) {
      if (!goal || features->goal) features->rows.visit(features->row(size_of(tail), flags & 1), from(first));
    }
    flags >>= 1;
  }
}

}  // namespace hiero
