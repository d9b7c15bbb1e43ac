// The guided backtrace (Zhai et al. 2015, section 3.2.3, Algorithm 2): it goes from the best translation down
// through the best derivation of each split point, gives every span that it reaches an outside string, and
// recovers derivations whose translations have a higher BLEU+1 than the k best ones.
//
// Items and split points of a span are those of all its labels, and unary rules are passed through. A
// recovered derivation takes the place of a tail with another label after removing copying unary rules from
// its top, or under one more of them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hiero/metrics/reference_set.h"
#include "hiero/tune/partial_derivations.h"

namespace hiero {

struct GuidedOptions {
  std::size_t beam = 30;       // number of items of a span to consider, the best ones
  std::size_t recovered = 50;  // greatest number of derivations to recover for a span, the best ones
  ReferenceLength reference_length = ReferenceLength::kAverage;
};

// A derivation that is better than the k best translations of the sentence.
struct RecoveredDerivation {
  PartialDerivations::Id derivation;
  std::size_t string;  // index of the whole translation in GuidedResult::strings
  double bleu;         // BLEU+1 of that translation
};

struct GuidedResult {
  struct Place {
    PartialDerivations::Strings outside;
    std::vector<RecoveredDerivation>
        recovered;  // best first; those of the sentence include the rule into the root
  };
  std::map<Chart::Span, Place> places;  // by span that was reached
  std::vector<PartialDerivations::Words> strings;
  // The string with the highest BLEU+1, that BLEU+1, and the highest BLEU+1 of the k best translations.
  PartialDerivations::Words oracle;
  double oracle_bleu = 0;
  double best_bleu = 0;
};

// Runs the backtrace. `translations` are the strings of the k best derivations of the root, best first;
// without one the result is empty. References are lists of tokens. Throws std::invalid_argument if all are
// empty.
GuidedResult guided_backtrace(PartialDerivations& partial,
                              std::span<const PartialDerivations::Words> translations,
                              std::span<const std::vector<std::string>> references,
                              const GuidedOptions& options);

}  // namespace hiero
