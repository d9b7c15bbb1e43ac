// Every setting of a decoder, with its default and meaning. Scores and thresholds are natural logarithms.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "hiero/base/setting.h"

namespace hiero {

// Which words get rules that copy them.
enum class PassThrough { kUnknown, kAll, kNone };
// The target side of such a rule for a word that no table translates: the word, the word followed by _OOV, or
// nothing.
enum class UnknownWords { kCopy, kMark, kDrop };
// What a translation has besides the best derivation: nothing, all derivations that the search found, every
// item of every cell, or every item and the best derivation of split points that the search had none for
// (search.h).
enum class Keep { kNone, kForest, kChart, kSplits };

template <>
inline constexpr std::array<std::string_view, 3> kNames<PassThrough>{"unknown", "all", "none"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<UnknownWords>{"copy", "mark", "drop"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<Keep>{"none", "forest", "chart", "splits"};

struct DecoderOptions {
  std::uint32_t pop_limit = 100;  // divided among the cells by budget.h
  std::uint32_t span_limit = 10;  // for rules of a table that has no limit itself
  std::uint32_t beam_size = 0;
  // Not exact: scores in the queue do not include all neighbouring words yet, so a hypothesis within the
  // threshold can be missed.
  double beam_threshold = std::numeric_limits<double>::infinity();
  std::uint32_t ttable_limit = 0;
  std::uint32_t exact = 0;
  PassThrough pass_through = PassThrough::kUnknown;
  UnknownWords unknown_words = UnknownWords::kCopy;
  double confidence_temperature = 1;

  template <class Visit>
  static void visit_settings(const Visit& visit) {
    using O = DecoderOptions;
    visit(Setting{&O::pop_limit, "pop_limit",
                  "hypotheses per span of at most 10 words, on average; 0: no limit"});
    visit(Setting{&O::span_limit, "span_limit",
                  "source words that a rule may span, for tables without a limit; glue is exempt", 1});
    visit(Setting{&O::beam_size, "beam_size", "items kept per cell; 0: all"});
    visit(Setting{&O::beam_threshold, "beam_threshold",
                  "largest distance from a cell's best score, natural log: its search ends beyond it, and "
                  "worse items are pruned",
                  0});
    visit(Setting{&O::ttable_limit, "ttable_limit",
                  "targets kept per source side and label, best by rule features and LM estimate; 0: all"});
    visit(Setting{
        &O::exact, "exact",
        "hypotheses per sentence, at most, that are made after the usual search to prove that there is no "
        "better derivation, or to find it; 0: none"});
    visit(Setting{&O::pass_through, "pass_through", "words that may be copied to the output"});
    visit(Setting{&O::unknown_words, "unknown_words",
                  "output for unknown words that are copied: the word, word_OOV, or nothing"});
    visit(Setting{&O::confidence_temperature, "confidence_temperature",
                  "number that scores are divided by for the confidence of words; the larger, the less sure",
                  0.01, 100});
  }
};

}  // namespace hiero
