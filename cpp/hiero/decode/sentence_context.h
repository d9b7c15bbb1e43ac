// What the steps after matching read about one sentence, and the arena that holds what they make of it. One
// struct is passed to all of them; it lives in Decoder::translate.
#pragma once

#include "hiero/base/arena.h"
#include "hiero/base/deadline.h"
#include "hiero/decode/matches.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/translation_model.h"
#include "hiero/decode/weights.h"

namespace hiero {

struct SentenceContext {
  const TranslationModel& model;
  const Sentence& sentence;
  const Weights& weights;
  const DecoderOptions& options;
  Matches& matches;  // final, except for Application::row
  Arena& arena;
  const Deadline* deadline = nullptr;  // of the search, or null

  bool is_late() const { return deadline && deadline->passed(); }
};

}  // namespace hiero
