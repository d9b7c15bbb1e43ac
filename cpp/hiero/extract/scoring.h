// From counted rules to a packed rule table with features:
//   PhraseEF   log p(e|f) = log c(f, e) / c(f)
//   PhraseFE   log p(f|e) = log c(f, e) / c(e)
//   LexEF      log of the product, over target words, of the mean w(e|f) over the source words each is
//              linked to, or w(e|NULL) (Koehn et al. 2003, section 3.1)
//   LexFE      likewise over source words
//   RuleCount  log c(f, e)
//   Singleton  1 if the rule occurred once
// c(f, e) may be discounted: times d(n) / n for a rule that occurred n times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/extract/counts_file.h"
#include "hiero/extract/options.h"
#include "hiero/extract/significance.h"

namespace hiero {

struct ScoreStatistics {
  std::uint64_t read = 0;
  std::uint64_t kept = 0;
};

// Called now and then with the number of rules read; may throw to stop.
using ScoreProgress = std::function<void(std::uint64_t rules)>;

// Memory goes into vocabulary, lexicon and the rules of one source side; the rules themselves are read twice.
// Probabilities are of all counted rules, also those that are then left out. Replaces `output` when the
// table is whole. Throws FormatError, FileError.
// The test, if there is one, decides before the ttable limit does: rules stay whose -log p by Fisher's exact
// test is larger than `least_significance`.
ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            SignificanceTest* test, double least_significance, const ScoreProgress& progress);

}  // namespace hiero
