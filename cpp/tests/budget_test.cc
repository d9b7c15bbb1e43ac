// Shares of the hypotheses against the water level that the formula in budget.h stands for, found by
// bisection: every cell has the lesser of its need and of the level times its weight. Usage: budget_test
// [cases = 200] [seed = 1]
#include "hiero/decode/budget.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>

#include "cases.h"
#include "hiero/decode/matcher.h"
#include "random_rules.h"

namespace hiero {
namespace {

// As many hypotheses as a cell has at most: each target with every choice of items below it.
std::vector<double> needs_of(const SearchContext& context, double beam_size) {
  std::vector<double> needs;
  for (const Cell& cell : context.matches.cells) {
    double need = 0;
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      double product = static_cast<double>(context.targets.count(a));
      for (CellId tail : context.matches.tails(context.matches.applications[a]))
        product *= std::min(needs[tail], beam_size);
      need += product;
    }
    needs.push_back(need);
  }
  return needs;
}

// Spans of more than 10 words count only where the sentence begins.
bool counts(const Cell& cell) { return cell.end <= cell.begin + 10 || cell.begin == 0; }

double spans_of(const SearchContext& context) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> spans;
  for (const Cell& cell : context.matches.cells)
    if (counts(cell)) spans.insert({cell.begin, cell.end});
  return static_cast<double>(spans.size());
}

// Cells a span of other labels than the goal's, at least 1.
double labels_of(const SearchContext& context) {
  double cells = 0;
  for (const Cell& cell : context.matches.cells)
    cells += counts(cell) && cell.label != context.matches.cells[context.matches.goal].label;
  return std::max(1.0, cells / spans_of(context));
}

std::vector<double> weights_of(const SearchContext& context, const DecoderOptions& options) {
  const std::size_t count = context.matches.cells.size();
  double mean = 0;
  for (CellId id = 0; id < count; ++id) mean += context.coarse.gap(id) / static_cast<double>(count);
  const double c = std::max(0.0, std::min(2.0, 3.1 - 0.8 * std::log10(options.pop_limit))) +
                   1.6 * std::log10(labels_of(context));
  std::vector<double> weights;
  for (CellId id = 0; id < count; ++id) {
    const Cell& cell = context.matches.cells[id];
    const double length = std::min(cell.end - cell.begin, options.span_limit);
    weights.push_back(length * std::exp(mean > 0 ? -c * context.coarse.gap(id) / mean : 0.0));
  }
  return weights;
}

double budget_of(const SearchContext& context, double limit) {
  const double further = (labels_of(context) - 1) * spans_of(context);
  return limit * (std::max(spans_of(context), std::min(80.0, 0.4 * limit)) + further / 50);
}

std::vector<double> shares_of(const SearchContext& context, const DecoderOptions& options, double budget) {
  const std::vector<double> needs = needs_of(context, options.beam_size);
  const std::vector<double> weights = weights_of(context, options);
  const auto at = [&](double level) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < needs.size(); ++i) shares.push_back(std::min(needs[i], level * weights[i]));
    return shares;
  };
  double low = -50;  // logarithms of levels
  double high = 700;
  for (int i = 0; i < 100; ++i) {
    const double level = (low + high) / 2;
    double sum = 0;
    for (double share : at(std::exp(level))) sum += share;
    (sum > budget ? high : low) = level;
  }
  // Where needs are met to the last one, any higher level is the same.
  return std::accumulate(needs.begin(), needs.end(), 0.0) <= budget ? needs : at(std::exp(low));
}

// Hypotheses are whole, and a cell makes one at least.
bool near(std::uint64_t limit, double share) {
  return std::abs(static_cast<double>(limit) - std::max(1.0, share)) < 0.5 + 1e-6 * share;
}

bool good(Random& random, std::size_t& binding) {
  ModelParts parts;
  parts.tables.push_back({RuleTable::build(random_rules(random), "t", 0), "t", ""});
  const TranslationModel model(std::move(parts));
  // The larger, the further are cells off the best derivation, and the more so by how much they differ.
  const double scale = std::pow(10.0, static_cast<double>(below(random, 4)));
  const Weights weights(model, std::vector<double>(model.features().size(), scale));
  DecoderOptions options;
  options.pop_limit = static_cast<std::uint32_t>(1 + below(random, below(random, 2) == 0 ? 30 : 900));
  options.beam_size = static_cast<std::uint32_t>(1 + below(random, 20));
  options.span_limit = static_cast<std::uint32_t>(2 + below(random, 20));
  const Sentence sentence(model, {.tokens = random_sentence(random, 16)}, options);
  Arena arena;
  Matches matches;
  Matcher(model).run(sentence, options.span_limit, matches);
  if (matches.cells.empty()) return true;  // no derivation
  const SentenceContext sentence_context{model, sentence, weights, options, matches, arena};
  TargetScratch scratch;
  SentenceTargets targets(sentence_context, scratch);
  const CoarsePass coarse(matches, targets);
  const SearchContext context{sentence_context, targets, coarse, Keep::kNone};
  HypothesisBudget budget;
  budget.start(context);
  double left = budget_of(context, options.pop_limit);
  const std::vector<double> shares = shares_of(context, options, left);
  const std::vector<double> needs = needs_of(context, options.beam_size);
  double planned = 0;
  for (double share : shares) planned += share;
  // Each cell uses half of what it may, and all that is left goes to those after it, in proportion.
  for (CellId id = 0; id < shares.size(); ++id) {
    const double expected = planned > 0 ? shares[id] * std::max(1.0, left / planned) : 0.0;
    const std::uint64_t limit = budget.limit(id);
    if (!near(limit, expected)) return false;
    binding += shares[id] < needs[id];
    budget.spent(id, limit / 2);
    left -= static_cast<double>(limit / 2);
    planned -= shares[id];
  }
  return true;
}

int run(std::size_t cases, std::uint64_t seed) {
  std::size_t binding = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    if (!good(random, binding)) {
      std::printf("budget_test: case %zu: not the shares of the formula\n", i);
      return 1;
    }
  }
  std::printf("budget_test: %zu cases, %zu cells with less than they could use\n", cases, binding);
  return binding > cases ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 200, hiero::run); }
