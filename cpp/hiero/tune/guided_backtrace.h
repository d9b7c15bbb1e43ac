// The guided backtrace (Zhai et al. 2015, section 3.2.3, Algorithm 2): from the best translation down through
// the best derivation of each split point it gives every span that it comes by an outside string, and puts
// derivations together that are better, by Bleu+1 of what they come to, than all translations found.
//
// A span's items and split points are those of all its labels, and unary rules are looked through. What is
// good in a place of another label goes there without the copying unary rules on top of it, or under one
// more.
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
  std::size_t beam = 30;       // items of a span that are looked at, the best
  std::size_t recovered = 50;  // derivations that are kept of a span, the best
  ReferenceLength reference_length = ReferenceLength::kAverage;
};

// A derivation that is better than all translations of the sentence: which of `strings` it comes to, and its
// Bleu+1.
struct GoodDerivation {
  PartialDerivations::Id derivation;
  std::size_t string;
  double bleu;
};

struct GuidedResult {
  struct Place {
    PartialDerivations::Strings outside;
    std::vector<GoodDerivation> recovered;  // best first; of the whole sentence with the rule that ends it
  };
  std::map<Chart::Span, Place> places;  // by span that it came by
  std::vector<PartialDerivations::Words> strings;
  // The string of the highest Bleu+1 seen, that Bleu+1, and the highest of the translations.
  PartialDerivations::Words oracle;
  double oracle_bleu = 0;
  double best_bleu = 0;
};

// `translations` are the strings of the best derivations of the root, best first; nothing is found without
// one. References are lists of tokens. Throws std::invalid_argument for none with a token.
GuidedResult guided_backtrace(PartialDerivations& partial,
                              std::span<const PartialDerivations::Words> translations,
                              std::span<const std::vector<std::string>> references,
                              const GuidedOptions& options);

}  // namespace hiero
