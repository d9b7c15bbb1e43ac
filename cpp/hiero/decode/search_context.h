// What the search reads: the sentence with its matches, the scored targets, and the coarse pass over them.
// One struct is passed down through all of the search.
#pragma once

#include "hiero/decode/coarse.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence_context.h"
#include "hiero/decode/targets.h"

namespace hiero {

struct SearchContext : SentenceContext {
  SentenceTargets& targets;
  const CoarsePass& coarse;
  Keep keep;
};

}  // namespace hiero
