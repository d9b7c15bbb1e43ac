// Tests counts near the largest 64-bit number: sums that overflow are errors, and the others are scored.
// Tests also that C++ checks the limits of settings.
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

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::uint64_t>::max();

// Returns the sum of two records as the sorter computes it.
RuleCount sum(RuleCount total, RuleCount value) {
  RuleExtractor::add_counts(std::as_writable_bytes(std::span(&total, 1)),
                            std::as_bytes(std::span(&value, 1)));
  return total;
}

template <class Exception = Error, class Function>
bool throws(const Function& function) {
  try {
    (void)function();
  } catch (const Exception&) {
    return true;
  }
  return false;
}

bool sums_do_not_overflow() {
  const std::uint64_t shares = kMaxCount / RuleExtractor::kOne * RuleExtractor::kOne;  // 2^28 - 1 occurrences
  return sum({shares, 7}, {RuleExtractor::kOne - 1, 1}).shares == kMaxCount &&
         sum({shares, 7}, {0, 1}).occurrences == 8 &&
         throws([&] { return sum({shares, 7}, {RuleExtractor::kOne, 1}); }) &&
         sum_of_shares(kMaxCount, 0) == kMaxCount && throws([] { return sum_of_shares(kMaxCount, 1); }) &&
         throws([] { return sum_of_shares(kMaxCount, kMaxCount); });
}

// Returns a rule side of one word, encoded.
std::vector<std::byte> encoded_side(WordId word) {
  std::vector<std::byte> out;
  put_symbol(out, word);
  out.push_back(kEndOfSymbols);
  return out;
}

// Writes two rules of one source side. The sum of their shares does not fit into 64 bits.
void write_counts(const std::string& path) {
  CountsHead head;
  const WordId source = head.words.intern("f");
  for (const char* target : {"x", "y"}) head.lexicon.add(source, head.words.intern(target), 1);
  const std::vector<std::byte> source_side = encoded_side(source);
  const std::byte links[2]{};
  head.statistics.pairs = 1;
  CodedRules rules;
  for (const char* target : {"x", "y"}) {
    const std::vector<std::byte> target_side = encoded_side(head.words.intern(target));
    rules.add({source_side, target_side, links, {kMaxCount, kMaxCount}, kMaxCount});
    ++head.statistics.rules;
  }
  PartsWriter out(path, kRuleCounts);
  out.append(rules.bytes());
  out.end_part();
  out.commit(encode_head(head));
}

bool is_near(float a, double b) { return std::abs(a - b) < 1e-6; }

bool large_counts_are_scored(const std::string& folder) {
  write_counts(folder + "/counts");
  const CountsFile counts(folder + "/counts");
  score_rules(counts, folder + "/rules", {}, nullptr, 0, 1, [](std::uint64_t) {});
  const auto table = RuleTable::open(folder + "/rules");
  if (table->rule_count() != 2 || table->dense_count() < 2) return false;
  for (RuleId rule = 0; rule < 2; ++rule) {
    const std::span<const float> features = table->dense(rule, 1);  // PhraseFE, PhraseEF, ...
    if (!is_near(features[0], 0) || !is_near(features[1], std::log(0.5))) return false;
  }
  return true;
}

bool limits_are_checked(const std::string& folder) {
  const CountsFile counts(folder + "/counts");
  ScoreOptions scoring;
  scoring.min_count = 0;
  ExtractOptions extraction;
  extraction.min_gap = 101;
  return throws<std::invalid_argument>([&] {
           return score_rules(counts, folder + "/rules", scoring, nullptr, 0, 1, [](std::uint64_t) {});
         }) &&
         throws<std::invalid_argument>([&] { return RuleExtractor(extraction); });
}

int run() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("counts_test." + std::to_string(getpid()))).string();
  std::filesystem::create_directory(folder);
  const bool scores_ok = large_counts_are_scored(folder);
  const bool limits_ok = limits_are_checked(folder);
  std::filesystem::remove_all(folder);
  const bool sums_ok = sums_do_not_overflow();
  std::printf("counts_test: sums %s, scores %s, limits %s\n", sums_ok ? "ok" : "overflow",
              scores_ok ? "ok" : "differ", limits_ok ? "ok" : "not checked");
  return sums_ok && scores_ok && limits_ok ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
