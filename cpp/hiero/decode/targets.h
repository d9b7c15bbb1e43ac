// The target sides of a sentence's matched rules: scored under the current weights and sorted, once per rule
// group, however many applications share it. The search reads them lazily: a target side is split into runs
// of words between nonterminals, with their LM states, when it is first needed.
//
// Local features can change the order of a group's rules from application to application. If they depend on
// the gaps alone, rules that reorder the same nonterminals keep their order: these are sorted once per group,
// and merged for an application as far as the search looks.
//
// How to use: make one per sentence after matching; target(application, position) gives an application's
// rules best first (ties by rule id), whose scores lack the application's offset(); side(application, slot)
// gives a target side's words and chunk states.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/local_scores.h"
#include "hiero/decode/matches.h"
#include "hiero/decode/sentence_context.h"

namespace hiero {

struct Target {
  float score;         // weights . features, with the rule's words scored by every LM, context unknown
  std::uint32_t slot;  // rule id minus the group's first
};

// A rule's target side ready for search.
struct TargetSide {
  const Symbol* symbols;     // words in the table's numbering
  const ChartState* chunks;  // (arity + 1) runs of words in target order, times the number of LMs
  std::uint32_t size;
  std::uint8_t arity;
  float bos_change;  // added to the score because the words before the first nonterminal follow <s>
  std::array<std::uint8_t, kMaxArity> order;  // source index of the nonterminals, in target order
};

// Buffers that are kept from sentence to sentence, so that the search allocates nothing.
struct TargetScratch {
  RuleRecord record;
  std::vector<LmWord> words;
};

class SentenceTargets {
 public:
  // Scores all target sets of the matches. Local features, if the model has any, are computed here. Throws
  // FormatError for scores that are not finite, and what local features throw.
  SentenceTargets(const SentenceContext& context, TargetScratch& scratch);

  // The number of an application's targets.
  std::uint32_t count(std::uint32_t application) const {
    const Merge* merge = merges_.empty() ? nullptr : merges_[application];
    return merge ? merge->size : static_cast<std::uint32_t>(list(application).size());
  }
  // The best target for position 0, the second best for 1, and so on below count().
  const Target& target(std::uint32_t application, std::uint32_t position) {
    Merge* merge = merges_.empty() ? nullptr : merges_[application];
    return merge ? merged_target(*merge, position) : list(application)[position];
  }
  // Score of local features that is the same for all of an application's targets.
  double offset(std::uint32_t application) const { return offsets_.empty() ? 0.0 : offsets_[application]; }
  double best(std::uint32_t application) { return target(application, 0).score + offset(application); }
  // Reads the rule on first use; `slot` is that of one of the application's targets.
  const TargetSide& side(const Application& application, std::uint32_t slot);
  // Whether this application opens the translation, so that its words follow <s>.
  bool follows_bos(const Application& application) const;
  const LocalScores& local() const { return local_; }
  std::uint64_t lm_queries() const { return lm_queries_; }

 private:
  // Targets of a set that reorder the same nonterminals, best first.
  struct Reordering {
    std::uint8_t reordered;  // bit i: nonterminal i is reordered
    std::span<const Target> targets;
  };
  // The targets of a reordering that are not merged yet, and the score that an application's gaps add.
  struct Head {
    std::span<const Target> rest;
    float gap_score;
  };
  // A lazy merge of all reorderings of a set, for applications whose gaps score the same.
  struct Merge {
    std::span<Head> heads;
    Target* targets;         // best first
    std::uint32_t merged;    // targets so far
    std::uint32_t capacity;  // of the array
    std::uint32_t size;      // targets in the end
  };

  std::span<const Target> list(std::uint32_t application) const {
    return application_lists_.empty() ? lists_[context_.matches.applications[application].targets]
                                      : application_lists_[application];
  }
  void score_set(std::uint32_t set);
  void apply_local_features();
  std::span<const Target> add_rule_scores(const Application& application);
  std::span<const Reordering> group_by_reordering(std::uint32_t set, std::span<const Target> targets);
  Merge* start_merge(const Application& application);
  const Target& merged_target(Merge& merge, std::uint32_t position);
  void merge_next(Merge& merge);
  std::span<const Target> sorted(Target* targets, std::uint32_t count) const;
  double score_sparse(const BoundTable& bound, const std::vector<double>& weights, RuleId rule);
  const ChartState* score_chunks(const BoundTable& bound, bool after_bos, TargetSide& side);

  const SentenceContext& context_;
  RuleRecord& record_;
  std::vector<LmWord>& words_;
  LocalScores local_;
  std::vector<double> sentence_table_weights_;  // by feature of the sentence's rules
  std::vector<std::span<const Target>> lists_;  // by target set
  std::vector<TargetSide**> sides_;             // by target set, then slot
  // By target set whose rules differ by their gaps alone.
  std::vector<std::span<const Reordering>> reorderings_;
  // By application. Without local features there are none; with those of rules, each application has a list;
  // with others, those whose rules differ have a merge, which may be shared.
  std::vector<double> offsets_;
  std::vector<std::span<const Target>> application_lists_;
  std::vector<Merge*> merges_;
  std::uint64_t lm_queries_ = 0;
};

}  // namespace hiero
