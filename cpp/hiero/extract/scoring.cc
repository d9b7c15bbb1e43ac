#include "hiero/extract/scoring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "hiero/base/error.h"
#include "hiero/base/ordered_map.h"
#include "hiero/base/output_file.h"
#include "hiero/extract/lexical_weights.h"
#include "hiero/grammar/rule_body.h"
#include "hiero/grammar/symbol_code.h"
#include "hiero/grammar/table_writer.h"

namespace hiero {
namespace {

constexpr std::array<const char*, 6> kFeatures = {"PhraseFE", "PhraseEF",  "LexFE",
                                                  "LexEF",    "RuleCount", "Singleton"};
constexpr LabelId kLabel = 0;

// Returns the discounted count c(f, e) of a rule, in units of 1/RuleExtractor::kOne.
class Discounting {
 public:
  Discounting(Discount kind, const ExtractStatistics& statistics) : kind_(kind) {
    std::ranges::copy(statistics.rules_seen, rules_seen_.begin());
    if (rules_seen_[1] > 0) absolute_ = rules_seen_[0] / (rules_seen_[0] + 2 * rules_seen_[1]);
  }

  double operator()(const RuleCount& count) const {
    const auto shares = static_cast<double>(count.shares);
    const auto n = static_cast<double>(count.occurrences);
    if (kind_ == Discount::kAbsolute) return shares * (n - absolute_) / n;
    if (kind_ == Discount::kGoodTuring && count.occurrences <= kGoodTuringLimit) {
      const double same = rules_seen_[count.occurrences - 1];
      const double next = (n + 1) * rules_seen_[count.occurrences];
      if (next > 0 && next < n * same) return shares * next / (same * n);
    }
    return shares;
  }

 private:
  static constexpr std::uint64_t kGoodTuringLimit = 10;
  Discount kind_;
  std::array<double, std::tuple_size_v<decltype(ExtractStatistics::rules_seen)>> rules_seen_{};
  double absolute_ = 0;  // D
};

// What all threads have in common.
struct Scoring {
  Scoring(const CountsFile& from, std::uint32_t word_count, const ScoreOptions& settings)
      : counts(from),
        words(word_count),
        options(settings),
        discounting(settings.discount, from.statistics()),
        lexicon(from.lexicon()) {}

  void check(bool valid) const {
    if (!valid) counts.throw_damaged();
  }

  const CountsFile& counts;
  std::uint32_t words;
  const ScoreOptions& options;
  Discounting discounting;
  Lexicon lexicon;
};

// Rules of several source sides, and their rows of the table.
struct Batch {
  using Features = std::array<SparseFeature, kFeatures.size()>;
  struct Group {
    std::size_t end;  // number of rules up to its end
    double shares;    // of all rules of the source side, also of those that are left out
    std::size_t source_end = 0;
  };
  struct Row {
    std::size_t body_end;
    Features features;
  };

  void clear() {
    rules.clear();
    groups.clear();
    rows.clear();
    sources.clear();
    bodies.clear();
  }

  // Calls visit(row) for all rows.
  void visit_rows(const std::function<void(const RuleRow&)>& visit) const {
    std::size_t r = 0;
    std::size_t source_begin = 0;
    std::size_t body_begin = 0;
    for (const Group& group : groups) {
      const auto source = std::span(sources).subspan(source_begin, group.source_end - source_begin);
      source_begin = group.source_end;
      for (; r < group.end; ++r) {
        const auto body = std::span(bodies).subspan(body_begin, rows[r].body_end - body_begin);
        body_begin = rows[r].body_end;
        visit({source, kLabel, rows[r].features, body});
      }
    }
  }

  std::uint64_t read = 0;        // rules of the file up to the end of the batch
  std::vector<CodedRule> rules;  // those that are kept
  std::vector<Group> groups;
  std::vector<Row> rows;
  std::vector<Symbol> sources;
  std::vector<std::byte> bodies;
};

// Decodes rules and checks them.
class RuleDecoder {
 public:
  explicit RuleDecoder(const Scoring& scoring) : scoring_(scoring) {}

  void set_source(const CodedRule& rule) {
    const std::byte* at = rule.source.data();
    get_symbols(at, source_);
    for (const Symbol symbol : source_)
      scoring_.check(is_nonterminal(symbol) ? payload(symbol) == kLabel : symbol < scoring_.words);
  }

  void set_target(const CodedRule& rule) {
    const std::byte* at = rule.target.data();
    get_symbols(at, target_);
    const auto arity = static_cast<std::size_t>(std::ranges::count_if(source_, is_nonterminal));
    bool seen[2] = {arity < 1, arity < 2};
    for (const Symbol symbol : target_) {
      if (is_nonterminal(symbol)) {
        scoring_.check(payload(symbol) < 2 && !seen[payload(symbol)]);
        seen[payload(symbol)] = true;
      } else {
        scoring_.check(symbol < scoring_.words);
      }
    }
    scoring_.check(arity <= 2 && seen[0] && seen[1]);
    links_.clear();
    for (std::size_t i = 0; i + 1 < rule.links.size(); i += 2) {
      links_.push_back(
          {static_cast<std::uint32_t>(rule.links[i]), static_cast<std::uint32_t>(rule.links[i + 1])});
      const AlignmentLink& link = links_.back();
      scoring_.check(link.source < source_.size() && link.target < target_.size() &&
                     !is_nonterminal(source_[link.source]) && !is_nonterminal(target_[link.target]));
    }
  }

  std::span<const Symbol> source() const { return source_; }
  std::span<const Symbol> target() const { return target_; }
  std::span<const AlignmentLink> links() const { return links_; }

 private:
  const Scoring& scoring_;
  std::vector<Symbol> source_;
  std::vector<Symbol> target_;
  std::vector<AlignmentLink> links_;
};

// Selects the rules that are kept. The table writer reads all rules twice; the significance test runs in the
// first pass only.
class RuleSelection {
 public:
  RuleSelection(const Scoring& scoring, SignificanceTest* test, double least_significance)
      : scoring_(scoring), decoder_(scoring), test_(test), least_significance_(least_significance) {}

  // Call it before every pass through all rules.
  void begin_pass() {
    tested_ = !significant_.empty();
    next_rule_ = 0;
  }

  // Adds the rules of one source side that are kept to a batch, in their order.
  void select(std::span<const CodedRule> group, Batch& batch) {
    selected_.clear();
    if (test_ && !tested_) {
      decoder_.set_source(group.front());
      test_->set_source(decoder_.source());
    }
    double shares = 0;
    for (std::size_t r = 0; r < group.size(); ++r) {
      shares += static_cast<double>(group[r].count.shares);
      if (is_significant(group[r]) && group[r].count.occurrences >= scoring_.options.min_count)
        selected_.push_back(r);
    }
    drop_rare(group);
    for (const std::size_t r : selected_) batch.rules.push_back(group[r]);
    if (!selected_.empty()) batch.groups.push_back({batch.rules.size(), shares});
  }

 private:
  // Keeps as many rules as the ttable limit has.
  void drop_rare(std::span<const CodedRule> group) {
    const std::size_t limit = scoring_.options.ttable_limit;
    if (limit == 0 || selected_.size() <= limit) return;
    const auto better = [&](std::size_t a, std::size_t b) {
      const double x = scoring_.discounting(group[a].count);
      const double y = scoring_.discounting(group[b].count);
      return x != y ? x > y : a < b;
    };
    const auto end = selected_.begin() + static_cast<std::ptrdiff_t>(limit);
    std::nth_element(selected_.begin(), end, selected_.end(), better);
    selected_.erase(end, selected_.end());
    std::ranges::sort(selected_);
  }

  // Tests every rule in the first pass and stores the results.
  bool is_significant(const CodedRule& rule) {
    if (!test_) return true;
    if (tested_) return significant_[next_rule_++];
    decoder_.set_target(rule);
    significant_.push_back(test_->minus_log_p(decoder_.target()) > least_significance_);
    return significant_.back();
  }

  const Scoring& scoring_;
  RuleDecoder decoder_;
  SignificanceTest* test_;
  double least_significance_;
  std::vector<bool> significant_;  // by rule: the result of the test
  bool tested_ = false;            // whether all rules were tested
  std::size_t next_rule_ = 0;
  std::vector<std::size_t> selected_;
};

// Makes the rows of the table.
class RuleScorer {
 public:
  explicit RuleScorer(const Scoring& scoring)
      : scoring_(scoring), decoder_(scoring), lexical_(scoring.lexicon) {}

  // Without scores they are as large, which is all that the first pass needs.
  void make_rows(Batch& batch, bool with_scores) {
    std::size_t r = 0;
    for (Batch::Group& group : batch.groups) {
      decoder_.set_source(batch.rules[r]);
      batch.sources.insert(batch.sources.end(), decoder_.source().begin(), decoder_.source().end());
      group.source_end = batch.sources.size();
      for (; r < group.end; ++r) {
        decoder_.set_target(batch.rules[r]);
        encode_body(decoder_.source(), decoder_.target(), decoder_.links(), body_);
        batch.bodies.insert(batch.bodies.end(), body_.begin(), body_.end());
        auto& row = batch.rows.emplace_back(Batch::Row{batch.bodies.size(), kNoScores});
        if (with_scores) score(batch.rules[r], group.shares, row.features);
      }
    }
  }

 private:
  static constexpr Batch::Features kNoScores = [] {
    Batch::Features out{};
    for (std::uint32_t f = 0; f < out.size(); ++f) out[f].feature = f;
    return out;
  }();

  void score(const CodedRule& rule, double source_total, Batch::Features& features) {
    const double count = scoring_.discounting(rule.count);
    const LexicalWeights lexical = lexical_(decoder_.source(), decoder_.target(), decoder_.links());
    const std::array<double, kFeatures.size()> values = {
        std::log(count / static_cast<double>(rule.target_shares)),
        std::log(count / source_total),
        lexical.source_given_target,
        lexical.target_given_source,
        std::log(count / static_cast<double>(RuleExtractor::kOne)),
        rule.count.occurrences == 1 ? 1.0 : 0.0};
    for (std::size_t f = 0; f < values.size(); ++f) {
      scoring_.check(std::isfinite(values[f]));
      features[f].value = static_cast<float>(values[f]);
    }
  }

  const Scoring& scoring_;
  RuleDecoder decoder_;
  LexicalScorer lexical_;
  std::vector<std::byte> body_;
};

}  // namespace

ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            SignificanceTest* test, double least_significance, std::size_t threads,
                            const ScoreProgress& progress) {
  constexpr std::size_t kBatch = 4096;  // rules
  check_settings(options);
  OutputFile file(output);
  TableNames names;
  names.owner = options.owner;
  names.span_limit = options.span_limit;
  names.words = counts.words();
  names.labels.intern("X");
  names.rules = counts.statistics().rules;
  for (const char* feature : kFeatures) names.features.push_back({feature, -1, names.rules});
  const Scoring scoring(counts, names.words.size(), options);
  RuleSelection selection(scoring, test, least_significance);
  std::vector<RuleScorer> scorers(threads, RuleScorer(scoring));
  ScoreStatistics statistics;
  bool is_first = true;
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    statistics = {};
    selection.begin_pass();
    RuleGroups groups(counts);
    std::uint64_t read_rules = 0;
    const auto read = [&](Batch& batch) {
      batch.clear();
      while (batch.rules.size() < kBatch && groups.next()) {
        read_rules += groups.rules().size();
        selection.select(groups.rules(), batch);
      }
      batch.read = read_rules;
      return !batch.rules.empty();
    };
    const auto work = [&](Batch& batch, std::size_t worker) { scorers[worker].make_rows(batch, !is_first); };
    const auto take = [&](const Batch& batch) {
      statistics.read = batch.read;
      statistics.kept += batch.rows.size();
      batch.visit_rows(visit);
    };
    ordered_map<Batch>(threads, read, work, take);
    statistics.read = read_rules;
    if (statistics.kept == 0) throw FormatError(output + ": the table would have no rules");
    is_first = false;
  };
  write_table(names, scan, file, [&] { progress(statistics.read); });
  file.commit();
  return statistics;
}

}  // namespace hiero
