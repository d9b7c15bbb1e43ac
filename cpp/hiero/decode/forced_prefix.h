// Rules for a prefix that no derivation begins with: users type words that the tables lack, or lack in this
// order. Each word of the sentence may become a short run of the prefix's words, alone or before one of its
// best translations. A feature, kForcedWords, counts the words that are forced.
#pragma once

#include <string>
#include <vector>

#include "hiero/decode/sentence_context.h"
#include "hiero/decode/target_automaton.h"
#include "hiero/decode/targets.h"
#include "hiero/grammar/rule.h"

namespace hiero {

inline constexpr const char* kForcedWords = "ForcedWords";

// Returns such rules, at least one if the sentence and the prefix have words. `targets` are
// those of its matches, without a constraint.
std::vector<Rule> forced_rules(const SentenceContext& context, SentenceTargets& targets,
                               const TargetConstraint& constraint);

}  // namespace hiero
