// The target sides of a sentence's matched rules: scored under the current weights and sorted, once per
// rule group however many applications share it, and on demand taken apart into runs of words between
// nonterminals with their LM states.
//
// How to use: prepare() once per sentence; target(application, position) gives its rules best first (ties by
// rule id), whose scores lack the application's offset(); side(application, slot) gives a target side's
// words and chunk states. Where local features change the order by what rules reorder, rules that reorder the
// same are sorted once a group, and merged as far as search looks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/arena.h"
#include "hiero/decode/local_scores.h"
#include "hiero/decode/matches.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/weights.h"

namespace hiero {

struct Target {
  float score;         // weights . features with the rule's own words scored by every LM, context unknown
  std::uint32_t slot;  // rule id minus the group's first
};

// A rule's target side ready for search.
struct TargetSide {
  const Symbol* symbols;     // words in the table's numbering
  const ChartState* chunks;  // (arity + 1) runs of words in target order, times the number of LMs
  std::uint32_t size;
  std::uint8_t arity;
  float bos_change;  // of the score, where the words before the first nonterminal follow <s>
  std::array<std::uint8_t, kMaxArity> order;  // source index of the nonterminals, in target order
};

class SentenceTargets {
 public:
  // Scores all target sets of `matches`. Local features, if the model has any, are computed here.
  void prepare(const TranslationModel& model, const Sentence& sentence, const Weights& weights,
               const DecoderOptions& options, Matches& matches, Arena& arena);

  // How many targets an application has.
  std::uint32_t count(std::uint32_t application) const {
    const Merge* merge = merges_.empty() ? nullptr : merges_[application];
    return merge ? merge->size : static_cast<std::uint32_t>(list(application).size());
  }
  // The best one for position 0, and so on below count().
  const Target& target(std::uint32_t application, std::uint32_t position) {
    Merge* merge = merges_.empty() ? nullptr : merges_[application];
    return merge ? merged(*merge, position) : list(application)[position];
  }
  // What all of an application's targets score besides, by local features.
  double offset(std::uint32_t application) const { return offsets_.empty() ? 0.0 : offsets_[application]; }
  double best(std::uint32_t application) { return target(application, 0).score + offset(application); }
  // Taken apart on first use; `slot` is one of the application's targets.
  const TargetSide& side(const Application& application, std::uint32_t slot);
  // Does this application open the translation, so that its words follow <s>?
  bool follows_bos(const Application& application) const;
  const LocalScores& local() const { return local_; }
  std::uint64_t lm_queries() const { return lm_queries_; }

 private:
  void score_set(std::uint32_t set);
  // Targets of a set that reorder the same nonterminals, best first.
  struct Kind {
    std::uint8_t reordered;
    std::span<const Target> targets;
  };
  // What is left of a kind, and what an application's gaps add to it.
  struct Head {
    std::span<const Target> rest;
    float change;
  };
  // Targets of all kinds, best first, as many as were asked for.
  struct Merge {
    std::span<Head> heads;
    Target* targets;
    std::uint32_t made;
    std::uint32_t room;
    std::uint32_t size;  // of all
  };

  std::span<const Target> list(std::uint32_t application) const {
    return own_lists_.empty() ? lists_[matches_->applications[application].targets] : own_lists_[application];
  }
  void apply_local_features();
  std::span<const Target> with_local_scores(const Application& application);
  std::span<const Kind> kinds_of(std::uint32_t set, Target* targets);
  Merge* merge_of(const Application& application);
  const Target& merged(Merge& merge, std::uint32_t position);
  std::span<const Target> sorted(Target* targets, std::uint32_t count) const;
  double score_sparse(const BoundTable& bound, const std::vector<double>& weights, RuleId rule);
  const ChartState* score_chunks(const BoundTable& bound, bool after_bos, TargetSide& side);

  const TranslationModel* model_ = nullptr;
  const Sentence* sentence_ = nullptr;
  const Weights* weights_ = nullptr;
  const DecoderOptions* options_ = nullptr;
  Matches* matches_ = nullptr;
  Arena* arena_ = nullptr;
  std::vector<double> own_weights_;             // of the sentence's own table
  std::vector<std::span<const Target>> lists_;  // by target set
  std::vector<std::span<const Kind>> kinds_;    // by target set, of those whose rules differ by gaps alone
  std::vector<std::span<const Target>> own_lists_;  // by application; only with features by rule
  std::vector<Merge*> merges_;                      // by application, or null; only with other local features
  std::vector<TargetSide**> sides_;                 // by target set, then slot
  std::vector<double> offsets_;                     // the same
  LocalScores local_;
  RuleRecord record_;
  std::vector<LmWord> words_;
  std::uint64_t lm_queries_ = 0;
};

}  // namespace hiero
