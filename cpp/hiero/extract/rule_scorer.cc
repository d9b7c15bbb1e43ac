#include "hiero/extract/rule_scorer.h"

#include <algorithm>
#include <cmath>

#include "hiero/grammar/rule_body.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

constexpr std::size_t kBatchRules = 4096;

constexpr ScoreFeatures kNoScores = [] {
  ScoreFeatures out{};
  for (std::uint32_t f = 0; f < out.size(); ++f) out[f].feature = f;
  return out;
}();

}  // namespace

void add_scores(TableNames& names, std::uint64_t rules) {
  names.labels.intern("X");
  names.rules = rules;
  for (const char* feature : kScores) names.features.push_back({feature, -1, rules});
}

Discounting::Discounting(Discount kind, const ExtractStatistics& statistics) : kind_(kind) {
  std::ranges::copy(statistics.rules_seen, rules_seen_.begin());
  if (rules_seen_[1] > 0) absolute_ = rules_seen_[0] / (rules_seen_[0] + 2 * rules_seen_[1]);
}

double Discounting::operator()(const RuleCount& count) const {
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

bool RuleBatch::read(RuleGroups& from) {
  rules.clear();
  groups.clear();
  rows.clear();
  sources.clear();
  bodies.clear();
  while (rules.size() < kBatchRules && from.next()) {
    rules.insert(rules.end(), from.rules().begin(), from.rules().end());
    groups.push_back({rules.size()});
  }
  is_significant.assign(rules.size(), true);
  return !rules.empty();
}

void RuleBatch::visit_rows(const std::function<void(const RuleRow&)>& visit) const {
  std::size_t r = 0;
  std::size_t source_begin = 0;
  std::size_t body_begin = 0;
  for (const Group& group : groups) {
    const auto source = std::span(sources).subspan(source_begin, group.source_end - source_begin);
    source_begin = group.source_end;
    for (; r < group.row_end; ++r) {
      const auto body = std::span(bodies).subspan(body_begin, rows[r].body_end - body_begin);
      body_begin = rows[r].body_end;
      visit({source, kRuleLabel, rows[r].features, body});
    }
  }
}

void RuleDecoder::set_source(const CodedRule& rule) {
  const std::byte* at = rule.source.data();
  get_symbols(at, source_);
  for (const Symbol symbol : source_) {
    scoring_.check(is_nonterminal(symbol) ? payload(symbol) == kRuleLabel
                                          : symbol < scoring_.counts.words().size());
  }
}

void RuleDecoder::set_target(const CodedRule& rule) {
  const std::byte* at = rule.target.data();
  get_symbols(at, target_);
  const auto arity = static_cast<std::size_t>(std::ranges::count_if(source_, is_nonterminal));
  bool seen[2] = {arity < 1, arity < 2};
  for (const Symbol symbol : target_) {
    if (is_nonterminal(symbol)) {
      scoring_.check(payload(symbol) < 2 && !seen[payload(symbol)]);
      seen[payload(symbol)] = true;
    } else {
      scoring_.check(symbol < scoring_.counts.words().size());
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

void RuleTester::test(RuleBatch& batch) {
  batch.visit_groups([&](const RuleBatch::Group&, std::size_t begin, std::span<const CodedRule> rules) {
    decoder_.set_source(rules.front());
    test_.set_source(decoder_.source());
    for (std::size_t r = 0; r < rules.size(); ++r) {
      decoder_.set_target(rules[r]);
      batch.is_significant[begin + r] = test_.minus_log_p(decoder_.target()) > least_significance_;
    }
  });
}

void RuleScorer::make_rows(RuleBatch& batch, bool with_scores) {
  batch.visit_groups([&](RuleBatch::Group& group, std::size_t begin, std::span<const CodedRule> rules) {
    select(batch, begin, rules);
    if (!selected_.empty()) add_rows(batch, rules, with_scores);
    group.row_end = batch.rows.size();
    group.source_end = batch.sources.size();
  });
}

// Selects rules of one source side, in their order.
void RuleScorer::select(const RuleBatch& batch, std::size_t begin, std::span<const CodedRule> rules) {
  selected_.clear();
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (batch.is_significant[begin + r] && rules[r].count.occurrences >= scoring_.options.min_count)
      selected_.push_back(r);
  }
  drop_rare(rules);
}

// Keeps as many rules as the ttable limit has.
void RuleScorer::drop_rare(std::span<const CodedRule> rules) {
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
void RuleScorer::add_rows(RuleBatch& batch, std::span<const CodedRule> rules, bool with_scores) {
  decoder_.set_source(rules.front());
  batch.sources.insert(batch.sources.end(), decoder_.source().begin(), decoder_.source().end());
  double shares = 0;  // of all rules, also of those that are left out
  for (const CodedRule& rule : rules) shares += static_cast<double>(rule.count.shares);
  for (const std::size_t r : selected_) {
    decoder_.set_target(rules[r]);
    encode_body(decoder_.source(), decoder_.target(), decoder_.links(), body_);
    batch.bodies.insert(batch.bodies.end(), body_.begin(), body_.end());
    auto& row = batch.rows.emplace_back(RuleBatch::Row{batch.bodies.size(), kNoScores});
    if (with_scores) score(rules[r], shares, row.features);
  }
}

void RuleScorer::score(const CodedRule& rule, double source_total, ScoreFeatures& features) {
  const double count = scoring_.discounting(rule.count);
  const LexicalWeights lexical = lexical_(decoder_.source(), decoder_.target(), decoder_.links());
  const std::array<double, kScores.size()> values = {
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

}  // namespace hiero
