// Rescoring a forest by model score and BLEU together (Chiang et al. 2008, section 2.4): oracles that
// training can reach (mu = 0.5), maximum BLEU (mu = 0), and hypotheses that the model likes and BLEU does not
// (mu = infinity).
//
// B(e) = (O_f + |f|) BLEU(O + c(e)), O a document so far. A partial derivation has the counts of its string,
// with matches that are not clipped and the effective reference length times the part of the sentence it
// covers. B does not decompose, so that items are kept per node, as many as the beam holds, and combined best
// first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/forest/hypergraph.h"
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
  // Items that inner nodes keep; 1 in the paper.
  std::size_t beam = 10;
  // Keeps one item of those with the same string, at every node.
  bool unique = true;
};

struct RescoredDerivation {
  double objective;
  double score;
  std::vector<EdgeIndex> edges;  // preorder
};

// The k best derivations under the objective, best first; ties by score, then by edge index. Throws
// std::invalid_argument for bad scores, options or references, ForestError for derivations of over 2^27 edges
// and strings of over 2^30 words.
std::vector<RescoredDerivation> rescore(const Hypergraph& forest, std::span<const double> scores,
                                        std::span<const std::vector<std::string>> references,
                                        const RescoreOptions& options);

}  // namespace hiero
