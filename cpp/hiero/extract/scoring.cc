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

// Rules of several source sides, and the rows of the table for those that are kept.
struct Batch {
  using Features = std::array<SparseFeature, kFeatures.size()>;
  // Numbers of rules, rows and symbols up to the end of a source side.
  struct Group {
    std::size_t end;
    std::size_t row_end = 0;
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

  void add(std::span<const CodedRule> group) {
    rules.insert(rules.end(), group.begin(), group.end());
    groups.push_back({rules.size()});
  }

  std::uint64_t end() const { return begin + rules.size(); }

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
  void visit_rows(const std::function<void(const RuleRow&)>& visit) const {
    std::size_t r = 0;
    std::size_t source_begin = 0;
    std::size_t body_begin = 0;
    for (const Group& group : groups) {
      const auto source = std::span(sources).subspan(source_begin, group.source_end - source_begin);
      source_begin = group.source_end;
      for (; r < group.row_end; ++r) {
        const auto body = std::span(bodies).subspan(body_begin, rows[r].body_end - body_begin);
        body_begin = rows[r].body_end;
        visit({source, kLabel, rows[r].features, body});
      }
    }
  }

  std::uint64_t begin = 0;  // rules of the file before the batch
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

// Tests the significance of rules.
class RuleTester {
 public:
  RuleTester(const Scoring& scoring, IndexedBitext& bitext, double least_significance)
      : decoder_(scoring), test_(bitext), least_significance_(least_significance) {}

  void test(Batch& batch) {
    batch.visit_groups([&](const Batch::Group&, std::size_t begin, std::span<const CodedRule> rules) {
      decoder_.set_source(rules.front());
      test_.set_source(decoder_.source());
      for (std::size_t r = 0; r < rules.size(); ++r) {
        decoder_.set_target(rules[r]);
        batch.is_significant[begin + r] = test_.minus_log_p(decoder_.target()) > least_significance_;
      }
    });
  }

 private:
  RuleDecoder decoder_;
  SignificanceTest test_;
  double least_significance_;
};

// Selects the rules that are kept, and makes their rows of the table.
class RuleScorer {
 public:
  explicit RuleScorer(const Scoring& scoring)
      : scoring_(scoring), decoder_(scoring), lexical_(scoring.lexicon) {}

  // Without scores they are as large, which is all that the first pass needs.
  void make_rows(Batch& batch, bool with_scores) {
    batch.visit_groups([&](Batch::Group& group, std::size_t begin, std::span<const CodedRule> rules) {
      select(batch, begin, rules);
      if (!selected_.empty()) add_rows(batch, rules, with_scores);
      group.row_end = batch.rows.size();
      group.source_end = batch.sources.size();
    });
  }

 private:
  static constexpr Batch::Features kNoScores = [] {
    Batch::Features out{};
    for (std::uint32_t f = 0; f < out.size(); ++f) out[f].feature = f;
    return out;
  }();

  // Selects rules of one source side, in their order.
  void select(const Batch& batch, std::size_t begin, std::span<const CodedRule> rules) {
    selected_.clear();
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (batch.is_significant[begin + r] && rules[r].count.occurrences >= scoring_.options.min_count)
        selected_.push_back(r);
    }
    drop_rare(rules);
  }

  // Keeps as many rules as the ttable limit has.
  void drop_rare(std::span<const CodedRule> rules) {
    const std::size_t limit = scoring_.options.ttable_limit;
    if (limit == 0 || selected_.size() <= limit) return;
    const auto better = [&](std::size_t a, std::size_t b) {
      const double x = scoring_.discounting(rules[a].count);
      const double y = scoring_.discounting(rules[b].count);
      return x != y ? x > y : a < b;
    };
    const auto end = selected_.begin() + static_cast<std::ptrdiff_t>(limit);
    std::nth_element(selected_.begin(), end, selected_.end(), better);
    selected_.erase(end, selected_.end());
    std::ranges::sort(selected_);
  }

  // Adds the rows of the rules that are selected.
  void add_rows(Batch& batch, std::span<const CodedRule> rules, bool with_scores) {
    decoder_.set_source(rules.front());
    batch.sources.insert(batch.sources.end(), decoder_.source().begin(), decoder_.source().end());
    double shares = 0;  // of all rules, also of those that are left out
    for (const CodedRule& rule : rules) shares += static_cast<double>(rule.count.shares);
    for (const std::size_t r : selected_) {
      decoder_.set_target(rules[r]);
      encode_body(decoder_.source(), decoder_.target(), decoder_.links(), body_);
      batch.bodies.insert(batch.bodies.end(), body_.begin(), body_.end());
      auto& row = batch.rows.emplace_back(Batch::Row{batch.bodies.size(), kNoScores});
      if (with_scores) score(rules[r], shares, row.features);
    }
  }

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
  std::vector<std::size_t> selected_;  // places among the rules of a source side
  std::vector<std::byte> body_;
};

}  // namespace

ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            IndexedBitext* bitext, double least_significance, std::size_t threads,
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
  std::vector<RuleScorer> scorers(threads, RuleScorer(scoring));
  std::vector<RuleTester> testers;
  for (std::size_t worker = 0; bitext && worker < threads; ++worker)
    testers.emplace_back(scoring, *bitext, least_significance);
  // By rule. The table writer reads all rules twice; the test runs in the first pass only.
  std::vector<bool> is_significant;
  ScoreStatistics statistics;
  bool is_first = true;
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    statistics = {};
    const bool is_tested = bitext && is_first;
    RuleGroups groups(counts);
    std::uint64_t read_rules = 0;
    const auto read = [&](Batch& batch) {
      batch.clear();
      batch.begin = read_rules;
      while (batch.rules.size() < kBatch && groups.next()) batch.add(groups.rules());
      read_rules = batch.end();
      batch.is_significant.assign(batch.rules.size(), true);
      if (bitext && !is_first) {
        const auto first = is_significant.begin() + static_cast<std::ptrdiff_t>(batch.begin);
        std::copy_n(first, batch.rules.size(), batch.is_significant.begin());
      }
      return !batch.rules.empty();
    };
    const auto work = [&](Batch& batch, std::size_t worker) {
      if (is_tested) testers[worker].test(batch);
      scorers[worker].make_rows(batch, !is_first);
    };
    const auto take = [&](const Batch& batch) {
      if (is_tested) {
        is_significant.insert(is_significant.end(), batch.is_significant.begin(), batch.is_significant.end());
      }
      statistics.read = batch.end();
      statistics.kept += batch.rows.size();
      batch.visit_rows(visit);
    };
    ordered_map<Batch>(threads, read, work, take);
    if (statistics.kept == 0) throw FormatError(output + ": the table would have no rules");
    is_first = false;
  };
  write_table(names, scan, file, [&] { progress(statistics.read); });
  file.commit();
  return statistics;
}

}  // namespace hiero
