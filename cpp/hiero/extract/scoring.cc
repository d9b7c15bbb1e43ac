#include "hiero/extract/scoring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "hiero/base/error.h"
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

// Selects and scores the rules of one source side after the other. The table writer reads all rules twice;
// the significance test runs in the first pass only.
class RuleScorer {
 public:
  RuleScorer(const CountsFile& counts, const Vocab& words, const ScoreOptions& options,
             SignificanceTest* test, double least_significance)
      : counts_(counts),
        options_(options),
        test_(test),
        least_significance_(least_significance),
        discounting_(options.discount, counts.statistics()),
        words_(words.size()),
        lexicon_(counts.lexicon()),
        lexical_(lexicon_) {}

  // Call it before every pass through all rules.
  void begin_pass() {
    tested_ = !significant_.empty();
    next_rule_ = 0;
  }

  // Calls visit(row) for the rules of one source side that are kept.
  void score(std::span<const CodedRule> group, const std::function<void(const RuleRow&)>& visit) {
    const std::byte* at = group.front().source.data();
    get_symbols(at, source_);
    for (const Symbol symbol : source_)
      check(is_nonterminal(symbol) ? payload(symbol) == kLabel : symbol < words_);
    const double total = std::accumulate(
        group.begin(), group.end(), 0.0,
        [](double sum, const CodedRule& rule) { return sum + static_cast<double>(rule.count.shares); });
    select(group);
    for (const std::size_t r : selected_) {
      score(group[r], total);
      visit({source_, kLabel, features_, body_});
    }
  }

 private:
  void check(bool valid) const {
    if (!valid) counts_.throw_damaged();
  }

  // Fills selected_ with the rules that are kept, in their order.
  void select(std::span<const CodedRule> group) {
    selected_.clear();
    if (test_ && !tested_) test_->set_source(source_);
    for (std::size_t r = 0; r < group.size(); ++r) {
      if (is_significant(group[r]) && group[r].count.occurrences >= options_.min_count)
        selected_.push_back(r);
    }
    if (options_.ttable_limit == 0 || selected_.size() <= options_.ttable_limit) return;
    const auto better = [&](std::size_t a, std::size_t b) {
      const double x = discounting_(group[a].count);
      const double y = discounting_(group[b].count);
      return x != y ? x > y : a < b;
    };
    const auto end = selected_.begin() + static_cast<std::ptrdiff_t>(options_.ttable_limit);
    std::nth_element(selected_.begin(), end, selected_.end(), better);
    selected_.erase(end, selected_.end());
    std::ranges::sort(selected_);
  }

  // Tests every rule in the first pass and stores the results.
  bool is_significant(const CodedRule& rule) {
    if (!test_) return true;
    if (tested_) return significant_[next_rule_++];
    decode(rule);
    significant_.push_back(test_->minus_log_p(target_) > least_significance_);
    return significant_.back();
  }

  void decode(const CodedRule& rule) {
    const std::byte* at = rule.target.data();
    get_symbols(at, target_);
    const auto arity = static_cast<std::size_t>(std::ranges::count_if(source_, is_nonterminal));
    bool seen[2] = {arity < 1, arity < 2};
    for (const Symbol symbol : target_) {
      if (is_nonterminal(symbol)) {
        check(payload(symbol) < 2 && !seen[payload(symbol)]);
        seen[payload(symbol)] = true;
      } else {
        check(symbol < words_);
      }
    }
    check(arity <= 2 && seen[0] && seen[1]);
    links_.clear();
    for (std::size_t i = 0; i + 1 < rule.links.size(); i += 2) {
      links_.push_back(
          {static_cast<std::uint32_t>(rule.links[i]), static_cast<std::uint32_t>(rule.links[i + 1])});
      const AlignmentLink& link = links_.back();
      check(link.source < source_.size() && link.target < target_.size() &&
            !is_nonterminal(source_[link.source]) && !is_nonterminal(target_[link.target]));
    }
  }

  void score(const CodedRule& rule, double source_total) {
    decode(rule);
    const double count = discounting_(rule.count);
    const LexicalWeights lexical = lexical_(source_, target_, links_);
    const std::array<double, kFeatures.size()> values = {
        std::log(count / static_cast<double>(rule.target_shares)),
        std::log(count / source_total),
        lexical.source_given_target,
        lexical.target_given_source,
        std::log(count / static_cast<double>(RuleExtractor::kOne)),
        rule.count.occurrences == 1 ? 1.0 : 0.0};
    for (std::uint32_t f = 0; f < values.size(); ++f) {
      check(std::isfinite(values[f]));
      features_[f] = {f, static_cast<float>(values[f])};
    }
    encode_body(source_, target_, links_, body_);
  }

  const CountsFile& counts_;
  const ScoreOptions& options_;
  SignificanceTest* test_;
  double least_significance_;
  Discounting discounting_;
  std::uint32_t words_;
  Lexicon lexicon_;
  LexicalScorer lexical_;
  std::vector<bool> significant_;  // by rule: the result of the test
  bool tested_ = false;            // whether all rules were tested
  std::size_t next_rule_ = 0;
  std::vector<std::size_t> selected_;
  std::vector<Symbol> source_;
  std::vector<Symbol> target_;
  std::vector<AlignmentLink> links_;
  std::array<SparseFeature, kFeatures.size()> features_{};
  std::vector<std::byte> body_;
};

}  // namespace

ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            SignificanceTest* test, double least_significance,
                            const ScoreProgress& progress) {
  check_settings(options);
  OutputFile file(output);
  TableNames names;
  names.owner = options.owner;
  names.span_limit = options.span_limit;
  names.words = counts.words();
  names.labels.intern("X");
  names.rules = counts.statistics().rules;
  for (const char* feature : kFeatures) names.features.push_back({feature, -1, names.rules});
  RuleScorer scorer(counts, names.words, options, test, least_significance);
  ScoreStatistics statistics;
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    statistics = {};
    scorer.begin_pass();
    counts.read_rules([&](std::span<const CodedRule> group) {
      statistics.read += group.size();
      scorer.score(group, [&](const RuleRow& row) {
        ++statistics.kept;
        visit(row);
      });
    });
    if (statistics.kept == 0) throw FormatError(output + ": the table would have no rules");
  };
  write_table(names, scan, file, [&] { progress(statistics.read); });
  file.commit();
  return statistics;
}

}  // namespace hiero
