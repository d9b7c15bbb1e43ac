// Converts counted rules (counts_file.h) to a packed rule table with these features, in natural logs:
//   PhraseEF   log p(e | f) = log c(f, e) / c(f)
//   PhraseFE   log p(f | e) = log c(f, e) / c(e)
//   LexEF      log p_w(e | f), the lexical weight of the target side (lexical_weights.h)
//   LexFE      log p_w(f | e), the lexical weight of the source side
//   RuleCount  log c(f, e)
//   Singleton  1 if the rule occurred once, else 0
// A discount multiplies c(f, e) by d(n) / n for a rule that occurred n times (options.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/extract/counts_file.h"
#include "hiero/extract/options.h"
#include "hiero/extract/significance.h"

namespace hiero {

struct ScoreStatistics {
  std::uint64_t read = 0;  // rules in the file of counts
  std::uint64_t kept = 0;  // rules in the table
};

// Receives the number of rules that were read. It is called regularly and may throw to stop the work.
using ScoreProgress = std::function<void(std::uint64_t rules)>;

// Writes the table in full or not at all. Rules are read twice; memory holds the vocabulary, the lexicon, the
// rules of one source side, and some thousand rules for each thread. The table does not depend on the number
// of threads. Probabilities are computed over all counted rules, before rules are left out. If there is a
// bitext, in which all threads test significance, only rules with -log p larger than `least_significance` are
// kept, and the ttable limit applies to these. Throws FormatError and FileError.
ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            IndexedBitext* bitext, double least_significance, std::size_t threads,
                            const ScoreProgress& progress);

}  // namespace hiero
