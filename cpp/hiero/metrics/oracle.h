// Rescoring of a forest by model score and BLEU together (Chiang et al. 2008, section 2.4): oracle
// derivations that training can reach (mu = 0.5), derivations of maximum BLEU (mu = 0), and derivations that
// the model prefers and BLEU does not (mu = infinity).
//
// B(e) = (O_f + |f|) BLEU(O + c(e)), O being the counts of the document so far. c(e) of a partial derivation
// counts its string, with matches that are not clipped and the effective reference length times the share of
// the sentence that it covers. B does not decompose over edges, so that every node keeps the best items, as
// many as the beam holds, and combines those of its tails best first.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiero/forest/derivation.h"
#include "hiero/metrics/bleu.h"

namespace hiero {

struct RescoreOptions {
  // Weight of the model: (1 - mu) B + mu score; infinity: score - B.
  double mu = 0.5;
  // The document that the sentence belongs to, and its number of source words.
  BleuCounts document;
  double document_source = 0;
  ReferenceLength reference_length = ReferenceLength::kShortest;
  std::size_t k = 10;
  // Number of items that nodes below the root keep; 1 in the paper.
  std::size_t beam = 10;
  // At every node, keep one item of those with the same string.
  bool unique = true;
};

struct OracleHypothesis {
  Derivation derivation;  // with the model's score
  double objective;       // computed from matches that are not clipped
  BleuCounts counts;      // of its string, with clipped matches
};

// Returns the k best derivations under the objective, best first; ties by score, then by edge index. Throws
// std::invalid_argument for bad scores, options or references, ForestError for derivations of over 2^27 edges
// and strings of over 2^30 words.
std::vector<OracleHypothesis> rescore(const std::shared_ptr<const Forest>& forest,
                                      std::span<const double> scores,
                                      std::span<const std::vector<std::string>> references,
                                      const RescoreOptions& options);

}  // namespace hiero
