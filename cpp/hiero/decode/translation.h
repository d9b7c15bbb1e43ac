// The translation of a sentence: its best derivation, and the forest or the chart where they were kept.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/constrained_matches.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/forest.h"
#include "hiero/forest/kbest.h"

namespace hiero {

// The cost of decoding one sentence.
struct DecodeStats {
  std::uint64_t applications = 0;  // rule applications matched
  std::uint64_t cells = 0;         // cells searched
  std::uint64_t hypotheses = 0;    // complete hypotheses
  std::uint64_t completed = 0;     // further hypotheses, for split points without one
  std::uint64_t lm_queries = 0;    // n-gram look-ups in all language models
};

struct Translation {
  std::shared_ptr<const std::vector<double>> weights;  // by feature of the forests
  std::shared_ptr<const Forest> best;                  // one derivation; without nodes if there is no parse
  std::shared_ptr<const Forest> forest;                // with Keep::kForest
  std::shared_ptr<const Chart> chart;                  // with Keep::kChart and Keep::kSplits
  // Positions of words that are the whole source side of no rule, but for rules that copy words, and that no
  // rule of the sentence itself covers where it matches.
  std::vector<std::uint32_t> unknown;
  // Where no derivation obeys the sentence's constraint: the words that none covers as far as it obeys.
  Uncovered uncovered;
  std::optional<std::string> text;  // detokenised; none: the tokens with blanks between them
  double temperature = 1;           // of the distribution that confidence() is computed with
  DecodeStats stats;
  bool was_late = false;  // the deadline ended the search
  // How much higher the score of the best derivation can be, natural log; infinity if nothing is known.
  double gap = std::numeric_limits<double>::infinity();

  // Whether no derivation within the decoder's limits has a higher score, but for the rounding of sums.
  bool optimal() const { return gap == 0; }
  bool has_parse() const { return best->graph->root >= 0; }
  // The edges of the best derivation; empty if there is no parse.
  std::vector<EdgeIndex> edges() const;
  // The best derivation, scored by `weights` as in k-best lists, which begin with it.
  Derivation derivation() const { return only_derivation(best, *weights); }
  std::vector<std::string> tokens() const { return yield_tokens(*best, edges()); }
  std::vector<std::pair<std::int32_t, double>> features() const { return feature_sums(*best, edges()); }
  std::vector<std::pair<std::int32_t, std::int32_t>> alignment() const;
  // The k best derivations, best first. Throws std::invalid_argument where the forest was not kept.
  std::vector<Derivation> kbest(std::size_t k, bool unique) const;
  // How sure each target word of a derivation of the sentence is, from 0 to 1 (word_posteriors.h), where
  // derivations have the probability exp(score / temperature) / Z. Copies of unknown words have 0. Throws
  // std::invalid_argument where the forest was not kept.
  std::vector<double> confidence(const Derivation& derivation) const;
};

}  // namespace hiero
