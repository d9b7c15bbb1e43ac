// What the threads that score rules do: they test their significance, select those that are kept, and make
// the rows of the table.
//
// How to use:
//   1. const Scoring scoring(counts, options);           // shared
//   2. RuleWorkers workers(scoring, bitext, least_significance, threads);
//   3. RuleBatch batch; batch.read(groups);
//   4. workers.test(batch, worker); workers.make_rows(batch, worker, true);   // in a thread
//   5. batch.visit_rows(visit);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "hiero/extract/counts_file.h"
#include "hiero/extract/lexical_weights.h"
#include "hiero/extract/options.h"
#include "hiero/extract/significance.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/table_writer.h"

namespace hiero {

// Features of all rules, in the order of their numbers.
inline constexpr std::array<const char*, 6> kScores = {"PhraseFE", "PhraseEF",  "LexFE",
                                                       "LexEF",    "RuleCount", "Singleton"};
using ScoreFeatures = std::array<SparseFeature, kScores.size()>;
// The label of all nonterminals.
inline constexpr LabelId kRuleLabel = 0;

// Adds the features and labels of a table whose probabilities come from so many rules.
void add_scores(TableNames& names, std::uint64_t rules);

// Returns the discounted count c(f, e) of a rule, in units of 1/RuleExtractor::kOne.
class Discounting {
 public:
  Discounting(Discount kind, const ExtractStatistics& statistics);

  double operator()(const RuleCount& count) const;

 private:
  static constexpr std::uint64_t kGoodTuringLimit = 10;
  Discount kind_;
  std::array<double, std::tuple_size_v<decltype(ExtractStatistics::rules_seen)>> rules_seen_{};
  double absolute_ = 0;  // D
};

// What all threads have in common.
struct Scoring {
  Scoring(const CountsFile& from, const ScoreOptions& settings)
      : counts(from), options(settings), discounting(settings.discount, from.statistics()) {}

  void check(bool valid) const {
    if (!valid) counts.throw_damaged();
  }

  const CountsFile& counts;
  const ScoreOptions& options;
  Discounting discounting;
};

// Rules of several source sides, and the rows of the table for those that are kept.
struct RuleBatch {
  // Numbers of rules, rows and symbols up to the end of a source side.
  struct Group {
    std::size_t end;
    std::size_t row_end = 0;
    std::size_t source_end = 0;
  };
  struct Row {
    std::size_t body_end;
    ScoreFeatures features;
  };

  // Reads some thousand rules, which count as significant. Returns false at the end.
  bool read(RuleGroups& from);

  // Calls visit(group, begin, rules) for every source side. Its first rule is rules[0], in the place `begin`
  // of the batch.
  template <class Visit>
  void visit_groups(const Visit& visit) {
    std::size_t first = 0;
    for (Group& group : groups) {
      visit(group, first, std::span<const CodedRule>(rules).subspan(first, group.end - first));
      first = group.end;
    }
  }

  // Calls visit(row) for all rows.
  void visit_rows(const std::function<void(const RuleRow&)>& visit) const;

  std::vector<CodedRule> rules;
  std::vector<bool> is_significant;  // by rule
  std::vector<Group> groups;
  std::vector<Row> rows;
  std::vector<Symbol> sources;
  std::vector<std::byte> bodies;
};

// Decodes rules and checks them.
class RuleDecoder {
 public:
  explicit RuleDecoder(const Scoring& scoring) : scoring_(scoring) {}

  void set_source(const CodedRule& rule);
  void set_target(const CodedRule& rule);

  std::span<const Symbol> source() const { return source_; }
  std::span<const Symbol> target() const { return target_; }
  std::span<const AlignmentLink> links() const { return links_; }

 private:
  const Scoring& scoring_;
  std::vector<Symbol> source_;
  std::vector<Symbol> target_;
  std::vector<AlignmentLink> links_;
};

// Tests the significance of rules.
class RuleTester {
 public:
  RuleTester(const Scoring& scoring, IndexedBitext& bitext, double least_significance)
      : decoder_(scoring), test_(bitext), least_significance_(least_significance) {}

  void test(RuleBatch& batch);

 private:
  RuleDecoder decoder_;
  SignificanceTest test_;
  double least_significance_;
};

// Selects the rules that are kept, and makes their rows of the table.
class RuleScorer {
 public:
  explicit RuleScorer(const Scoring& scoring)
      : scoring_(scoring), decoder_(scoring), lexical_(scoring.counts.lexicon()) {}

  // Without scores rows are as large, which is all that the first pass over a table needs.
  void make_rows(RuleBatch& batch, bool with_scores);

 private:
  void select(const RuleBatch& batch, std::size_t begin, std::span<const CodedRule> rules);
  void drop_rare(std::span<const CodedRule> rules);
  void add_rows(RuleBatch& batch, std::span<const CodedRule> rules, bool with_scores);
  void score(const CodedRule& rule, double source_total, ScoreFeatures& features);

  const Scoring& scoring_;
  RuleDecoder decoder_;
  LexicalScorer lexical_;
  std::vector<std::size_t> selected_;  // places among the rules of a source side
  std::vector<std::byte> body_;
};

// A scorer for each thread, and a tester if there is a bitext.
class RuleWorkers {
 public:
  RuleWorkers(const Scoring& scoring, IndexedBitext* bitext, double least_significance, std::size_t threads)
      : scorers_(threads, RuleScorer(scoring)) {
    for (std::size_t worker = 0; bitext && worker < threads; ++worker)
      testers_.emplace_back(scoring, *bitext, least_significance);
  }

  // Without a bitext all rules are significant.
  void test(RuleBatch& batch, std::size_t worker) {
    if (!testers_.empty()) testers_[worker].test(batch);
  }
  void make_rows(RuleBatch& batch, std::size_t worker, bool with_scores) {
    scorers_[worker].make_rows(batch, with_scores);
  }

 private:
  std::vector<RuleScorer> scorers_;
  std::vector<RuleTester> testers_;
};

}  // namespace hiero
