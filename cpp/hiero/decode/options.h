// Every setting of a decoder, with its default and what it means. Scores and thresholds are natural logs of
// model score.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "hiero/base/setting.h"

namespace hiero {

// Which words get rules that copy them.
enum class PassThrough { kUnknown, kAll, kNone };
// What such a rule makes of a word that no table translates: the word, the word followed by _OOV, or nothing.
enum class UnknownWords { kCopy, kMark, kDrop };
// What a translation keeps besides the best derivation: all derivations that search found, every item of
// every cell, or those and the best derivation of every split point that search stopped before (search.h).
enum class Keep { kNone, kForest, kChart, kSplits };

template <>
inline constexpr std::array<std::string_view, 3> kNames<PassThrough>{"unknown", "all", "none"};
template <>
inline constexpr std::array<std::string_view, 3> kNames<UnknownWords>{"copy", "mark", "drop"};
template <>
inline constexpr std::array<std::string_view, 4> kNames<Keep>{"none", "forest", "chart", "splits"};

struct DecoderOptions {
  std::uint32_t pop_limit = 200;  // budget.h shares hypotheses out
  std::uint32_t span_limit = 10;  // of rules of a table without a limit of its own
  std::uint32_t beam_size = 0;
  // Estimates of what waits know nothing of neighbouring words, so that a hypothesis can be missed that would
  // have been within.
  double beam_threshold = std::numeric_limits<double>::infinity();
  std::uint32_t ttable_limit = 0;
  PassThrough pass_through = PassThrough::kUnknown;
  UnknownWords unknown_words = UnknownWords::kCopy;

  template <class Visit>
  static void visit_settings(const Visit& visit) {
    using O = DecoderOptions;
    visit(Setting{&O::pop_limit, "pop_limit", "hypotheses per span, on average; 0: no limit"});
    visit(Setting{&O::span_limit, "span_limit",
                  "source words a rule may span, of tables that do not limit it; glue is exempt", 1});
    visit(Setting{&O::beam_size, "beam_size", "items kept per cell; 0: all"});
    visit(Setting{&O::beam_threshold, "beam_threshold",
                  "natural log: a cell's search ends, and items are dropped, where scores are worse than its "
                  "best by more",
                  0});
    visit(Setting{&O::ttable_limit, "ttable_limit",
                  "targets per source side and label, by rule features and LM estimate; 0: all"});
    visit(Setting{&O::pass_through, "pass_through", "which words may be copied to the output"});
    visit(Setting{&O::unknown_words, "unknown_words",
                  "what becomes of unknown words that pass through: the word, word_OOV, nothing"});
  }
};

}  // namespace hiero
