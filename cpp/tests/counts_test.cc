// Counts near what 64 bits hold: sums that would wrap are refused, and those that fit are scored as they are;
// and that limits of settings hold for who calls from C++.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "hiero/base/error.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/scoring.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// The sum of two records as the sorter makes it.
RuleCount combined(RuleCount into, RuleCount value) {
  RuleExtractor::add_counts(std::as_writable_bytes(std::span(&into, 1)), std::as_bytes(std::span(&value, 1)));
  return into;
}

template <class Problem = Error, class Work>
bool refuses(const Work& work) {
  try {
    (void)work();
  } catch (const Problem&) {
    return true;
  }
  return false;
}

bool sums_do_not_wrap() {
  const std::uint64_t whole = kMost / RuleExtractor::kOne * RuleExtractor::kOne;  // 2^28 - 1 occurrences
  return combined({whole, 7}, {RuleExtractor::kOne - 1, 1}).shares == kMost &&
         combined({whole, 7}, {0, 1}).occurrences == 8 &&
         refuses([&] { return combined({whole, 7}, {RuleExtractor::kOne, 1}); }) &&
         sum_of_shares(kMost, 0) == kMost && refuses([] { return sum_of_shares(kMost, 1); }) &&
         refuses([] { return sum_of_shares(kMost, kMost); });
}

std::vector<std::byte> side(WordId word) {
  std::vector<std::byte> out;
  put_symbol(out, word);
  out.push_back(kEndOfSymbols);
  return out;
}

// Two rules of one source side, whose shares together are more than 64 bits hold.
void write_counts(const std::string& path) {
  Vocab words;
  Lexicon lexicon;
  const WordId source = words.intern("f");
  CountsWriter out(path);
  for (const char* target : {"x", "y"}) lexicon.add(source, words.intern(target), 1);
  out.words(words);
  out.lexicon(lexicon);
  const std::vector<std::byte> coded = side(source);
  const std::byte links[2]{};
  ExtractStatistics statistics;
  statistics.pairs = 1;
  for (const char* target : {"x", "y"}) {
    const std::vector<std::byte> coded_target = side(words.intern(target));
    out.rule({coded, coded_target, links, {kMost, kMost}, kMost});
    ++statistics.rules;
  }
  out.commit(statistics);
}

bool is_near(float a, double b) { return std::abs(a - b) < 1e-6; }

bool large_counts_are_scored(const std::string& folder) {
  write_counts(folder + "/counts");
  const CountsFile counts(folder + "/counts");
  score_rules(counts, folder + "/rules", {}, nullptr, 0, [](std::uint64_t) {});
  const auto table = RuleTable::open(folder + "/rules");
  if (table->rule_count() != 2 || table->dense_count() < 2) return false;
  for (RuleId rule = 0; rule < 2; ++rule) {
    const std::span<const float> features = table->dense(rule, 1);  // PhraseFE, PhraseEF, ...
    if (!is_near(features[0], 0) || !is_near(features[1], std::log(0.5))) return false;
  }
  return true;
}

// Settings out of their limits, from C++ too.
bool limits_hold(const std::string& folder) {
  const CountsFile counts(folder + "/counts");
  ScoreOptions scoring;
  scoring.min_count = 0;
  ExtractOptions extraction;
  extraction.min_gap = 101;
  return refuses<std::invalid_argument>([&] {
           return score_rules(counts, folder + "/rules", scoring, nullptr, 0, [](std::uint64_t) {});
         }) &&
         refuses<std::invalid_argument>([&] { return RuleExtractor(extraction); });
}

int run() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("counts_test." + std::to_string(getpid()))).string();
  std::filesystem::create_directory(folder);
  const bool scored = large_counts_are_scored(folder);
  const bool limited = limits_hold(folder);
  std::filesystem::remove_all(folder);
  const bool summed = sums_do_not_wrap();
  std::printf("counts_test: sums %s, scores %s, limits %s\n", summed ? "hold" : "wrap",
              scored ? "hold" : "differ", limited ? "hold" : "do not");
  return summed && scored && limited ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
