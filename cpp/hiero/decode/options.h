// Every setting of a decoder, with its default. Scores and thresholds are natural logs of model score.
#pragma once

#include <cstdint>
#include <limits>

namespace hiero {

// Which words get rules that copy them.
enum class PassThrough { kUnknown, kAll, kNone };
// What such a rule makes of a word that no table translates: the word, the word followed by _OOV, or nothing.
enum class UnknownWords { kCopy, kMark, kDrop };
enum class Keep { kNone, kForest, kChart };

struct DecoderOptions {
  // Complete hypotheses per span on average, over all its labels; budget.h shares them out. 0: no limit.
  std::uint32_t pop_limit = 200;
  // Source words that a rule of a table without a limit of its own may span; glue is exempt.
  std::uint32_t span_limit = 10;
  // Items kept per cell; 0: no limit.
  std::uint32_t beam_size = 0;
  // The search of a cell ends when all that waits is estimated to be worse than the best found by more than
  // this; items that are worse by more are dropped then. The estimates know nothing of neighbouring words, so
  // that a hypothesis can be missed that would have been within.
  double beam_threshold = std::numeric_limits<double>::infinity();
  // Targets used per source side and label, the best by rule features and LM estimate; 0: all.
  std::uint32_t ttable_limit = 0;
  PassThrough pass_through = PassThrough::kUnknown;
  UnknownWords unknown_words = UnknownWords::kCopy;
};

}  // namespace hiero
