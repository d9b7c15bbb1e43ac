// Lexical weights of a rule (Koehn et al. 2003, section 3.1). For target words e linked to source words f:
//
//   log p_w(e | f) = sum over target words of log w, where w is the mean of w(e | f) over the links of the
//   word,
//                    or w(e | NULL) if it has no link,
//
// and likewise in the other direction. Nonterminals have no weight.
//
// How to use: LexicalScorer scorer(lexicon); scorer(source, target, links).target_given_source.
#pragma once

#include <span>
#include <vector>

#include "hiero/extract/lexicon.h"

namespace hiero {

struct LexicalWeights {
  double target_given_source;  // natural log
  double source_given_target;  // natural log
};

class LexicalScorer {
 public:
  explicit LexicalScorer(const Lexicon& lexicon) : lexicon_(lexicon) {}

  LexicalWeights operator()(std::span<const Symbol> source, std::span<const Symbol> target,
                            std::span<const AlignmentLink> links);

 private:
  struct Mean {
    double sum = 0;
    std::uint32_t links = 0;
  };

  const Lexicon& lexicon_;
  std::vector<Mean> source_;  // by source position
  std::vector<Mean> target_;  // by target position
};

}  // namespace hiero
