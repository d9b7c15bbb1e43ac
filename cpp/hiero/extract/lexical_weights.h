// Lexical weights of a rule under its alignment (Koehn et al. 2003, section 3.1); nonterminals have none.
#pragma once

#include <span>
#include <vector>

#include "hiero/extract/lexicon.h"

namespace hiero {

struct LexicalWeights {
  double target_given_source;  // natural logs
  double source_given_target;
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
  std::vector<Mean> source_;
  std::vector<Mean> target_;
};

}  // namespace hiero
