#include "hiero/extract/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/tokens.h"

namespace hiero {

LogFactorials::LogFactorials(std::uint64_t most) {
  values_.reserve(most + 1);
  for (std::uint64_t n = 0; n <= most; ++n) values_.push_back(std::lgamma(static_cast<double>(n) + 1));
}

double fisher_minus_log_p(std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t pairs,
                          const LogFactorials& log_factorial) {
  const auto log_choose = [&](std::uint64_t n, std::uint64_t k) {
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  };
  const std::uint64_t min_both = source + target > pairs ? source + target - pairs : 0;
  both = std::max(both, min_both);
  const std::uint64_t max_both = std::min(source, target);
  const double first =
      log_choose(source, both) + log_choose(pairs - source, target - both) - log_choose(pairs, target);
  // Terms are computed relative to the first, each from the one before. They fall fast, or rise first below
  // the mode.
  double sum = 1;
  double term = 1;
  for (std::uint64_t k = both; k < max_both; ++k) {
    term *= static_cast<double>(source - k) * static_cast<double>(target - k) /
            (static_cast<double>(k + 1) * static_cast<double>(pairs + k + 1 - source - target));
    sum += term;
    if (term < sum * 1e-17) break;
  }
  return std::max(0.0, -(first + std::log(sum)));
}

IndexedBitext::IndexedBitext(LineReader& source, LineReader& target, Vocab& words, std::uint64_t pairs) {
  const auto read = [&words](std::string_view line, std::vector<WordId>& out) {
    out.clear();
    for (std::string_view token = next_token(line); !token.empty(); token = next_token(line))
      out.push_back(words.intern(token));
  };
  std::vector<WordId> f;
  std::vector<WordId> e;
  std::string_view source_line;
  std::string_view target_line;
  for (;;) {
    const bool has_line = source.next(source_line);
    if (target.next(target_line) != has_line) {
      throw FormatError(source.name() + " and " + target.name() + " have different numbers of lines");
    }
    if (!has_line) break;
    read(source_line, f);
    read(target_line, e);
    if (f.empty() || e.empty()) continue;
    source_.add(f);
    target_.add(e);
  }
  if (source_.size() != pairs) {
    throw FormatError(source.name() + ": " + std::to_string(source_.size()) +
                      " sentence pairs without a blank side, where the rules come from " +
                      std::to_string(pairs));
  }
  log_factorials_ = LogFactorials(pairs);
  all_sentences_.resize(source_.size());
  std::iota(all_sentences_.begin(), all_sentences_.end(), 0u);
}

std::span<const std::uint32_t> IndexedBitext::candidates(const PatternIndex& index,
                                                         std::span<const Symbol> side) const {
  const WordId rarest = index.rarest(side);
  return rarest == kNoWord ? std::span(all_sentences_) : index.sentences_with(rarest);
}

std::uint64_t IndexedBitext::count_target(std::span<const Symbol> target) {
  std::string key(reinterpret_cast<const char*>(target.data()), target.size_bytes());
  {
    const std::lock_guard lock(mutex_);
    const auto known = target_counts_.find(key);
    if (known != target_counts_.end()) return known->second;
  }
  // Other threads go on meanwhile. Two may count the same, which is rare.
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(
      candidates(target_, target), [&](std::uint32_t s) { return target_.matches(s, target, 0); }));
  const std::lock_guard lock(mutex_);
  target_counts_.emplace(std::move(key), count);
  return count;
}

void SignificanceTest::set_source(std::span<const Symbol> source) {
  for (const std::uint32_t sentence : source_sentences_) has_source_[sentence] = 0;
  source_sentences_.clear();
  for (const std::uint32_t sentence : bitext_.candidates(bitext_.source(), source)) {
    if (!bitext_.source().matches(sentence, source, 0)) continue;
    source_sentences_.push_back(sentence);
    has_source_[sentence] = 1;
  }
}

double SignificanceTest::minus_log_p(std::span<const Symbol> target) const {
  constexpr std::size_t kManyCandidates = 64;
  const auto candidates = bitext_.candidates(bitext_.target(), target);
  const auto matches = [&](std::uint32_t sentence) { return bitext_.target().matches(sentence, target, 0); };
  std::uint64_t both = 0;
  std::uint64_t count = 0;
  if (candidates.size() < kManyCandidates) {
    for (const std::uint32_t sentence : candidates) {
      if (!matches(sentence)) continue;
      ++count;
      both += static_cast<std::uint64_t>(has_source_[sentence]);
    }
  } else {
    count = bitext_.count_target(target);
    if (source_sentences_.size() < candidates.size()) {
      both = static_cast<std::uint64_t>(std::ranges::count_if(source_sentences_, matches));
    } else {
      both = static_cast<std::uint64_t>(std::ranges::count_if(candidates, [&](std::uint32_t sentence) {
        return has_source_[sentence] != 0 && matches(sentence);
      }));
    }
  }
  return fisher_minus_log_p(both, source_sentences_.size(), count, bitext_.pairs(), bitext_.log_factorials());
}

}  // namespace hiero
