// The local features of a model for a sentence's rule applications: as scores during search, and as features
// afterwards.
//
// Most of a score is the same for all rules of an application: that of its span, and that of its gaps where
// all rules of the target set reorder them alike. This is the application's offset, which leaves the order of
// the set's rules as it is. The rest differs by rule. If the model has features of single rules, it is
// computed for each application, by_rule(). If it comes from the gaps alone, it is the same for rules that
// reorder the same nonterminals, and for applications of a set whose gaps have the same sizes, which have the
// same gap_key().
//
// Scores of a lattice's arcs are part of the offset, too.
//
// How to use: make one per sentence after matching; then offset(a) for every application, and where
// differs(set) also rule_score(a, slot) or gap_score(a, reordered). visit() enumerates the features of a
// rule.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/sentence_context.h"

namespace hiero {

class LocalScores {
 public:
  // Calls all local features of the model, and numbers the applications' rows if there are features of rules.
  // Throws what features throw, and std::invalid_argument for answers of the wrong shape or not finite.
  explicit LocalScores(const SentenceContext& context);

  bool any() const { return any_; }
  // Whether the rules of a target set differ in their local scores.
  bool differs(std::uint32_t set) const { return any_ && differs_[set]; }
  // Whether the model has features of single rules.
  bool by_rule() const { return !rows_.empty(); }
  // The score that all rules of an application share.
  double offset(const Application& application) const;
  // The nonterminals that the rules of a target set reorder, by slot: bit i for nonterminal i.
  std::span<const std::uint8_t> reordered(std::uint32_t set) const;
  // The score of the gaps for rules that reorder these nonterminals.
  double gap_score(const Application& application, std::uint8_t reordered) const;
  // The score of one rule without the offset.
  double rule_score(const Application& application, std::uint32_t slot) const;
  // Applications with the same key have the same gap_score(). Without a value, the application shares with
  // none.
  std::optional<std::uint64_t> gap_key(const Application& application) const;

  // Calls use(feature, value) for all local features of a rule, with the model's feature indices.
  template <class Use>
  void visit(const Application& application, std::uint32_t slot, const Use& use) const;

 private:
  // By whether the application derives the goal.
  using ScoresByGoal = std::vector<double>[2];

  void compare_reorderings();
  std::vector<std::int32_t> number_spans();
  void score_spans();
  void score_gaps();
  void score_rules();
  ApplicationBatch describe_applications();
  bool is_goal(const Application& application) const {
    return context_.model.is_goal(context_.matches.cells[application.cell].label);
  }
  std::uint32_t size_of(CellId cell) const {
    return context_.matches.cells[cell].end - context_.matches.cells[cell].begin;
  }
  double arc_score(const Application& application) const;
  double score_row(const SparseRows& rows, std::size_t row, std::uint32_t first_feature) const;

  const SentenceContext& context_;
  bool any_;
  std::vector<std::uint8_t> differs_;   // by target set
  std::vector<std::uint32_t> span_of_;  // by cell: the index of its span
  std::vector<SparseRows> span_rows_;   // by span features, then span
  ScoresByGoal span_scores_;            // by span
  ScoresByGoal gap_scores_;             // by size and reordering, as in GapFeatures::row
  std::uint32_t gap_sizes_ = 0;
  std::vector<SparseRows> rows_;  // by rule features, then row
  std::vector<double> row_scores_;
};

template <class Use>
void LocalScores::visit(const Application& application, std::uint32_t slot, const Use& use) const {
  const TranslationModel& model = context_.model;
  const bool goal = is_goal(application);
  const auto from = [&use](std::uint32_t first) {
    return [&use, first](std::uint32_t column, double value) { use(first + column, value); };
  };
  for (std::size_t x = 0; x < rows_.size(); ++x)
    rows_[x].visit(std::size_t{application.row} + slot, from(model.rule_features()[x].first));
  for (std::size_t x = 0; x < span_rows_.size(); ++x) {
    const auto& [features, first] = model.span_features()[x];
    if (!goal || features->goal()) span_rows_[x].visit(span_of_[application.cell], from(first));
  }
  const Sentence& sentence = context_.sentence;
  for (std::size_t k = 0; k < sentence.lattice_features().size(); ++k) {
    for (const std::uint32_t arc : context_.matches.path(application))
      use(sentence.lattice_features()[k], sentence.lattice().score(arc, k));
  }
  if (model.gap_features().empty() || application.arity == 0) return;
  std::uint8_t flags = reordered(application.targets)[slot];
  for (CellId tail : context_.matches.tails(application)) {
    for (const auto& [features, first] : model.gap_features()) {
      if (!goal || features->goal) features->rows.visit(features->row(size_of(tail), flags & 1), from(first));
    }
    flags >>= 1;
  }
}

}  // namespace hiero
