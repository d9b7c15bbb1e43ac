#include "hiero/extract/lexical_weights.h"

#include <cmath>

namespace hiero {

LexicalWeights LexicalScorer::operator()(std::span<const Symbol> source, std::span<const Symbol> target,
                                         std::span<const AlignmentLink> links) {
  source_.assign(source.size(), {});
  target_.assign(target.size(), {});
  for (const AlignmentLink& link : links) {
    const WordId f = source[link.source];
    const WordId e = target[link.target];
    target_[link.target].sum += lexicon_.target_given_source(f, e);
    ++target_[link.target].links;
    source_[link.source].sum += lexicon_.source_given_target(f, e);
    ++source_[link.source].links;
  }
  LexicalWeights out{0, 0};
  for (std::size_t t = 0; t < target.size(); ++t) {
    if (is_nonterminal(target[t])) continue;
    out.target_given_source +=
        std::log(target_[t].links > 0 ? target_[t].sum / target_[t].links
                                      : lexicon_.target_given_source(Lexicon::kNull, target[t]));
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    if (is_nonterminal(source[s])) continue;
    out.source_given_target +=
        std::log(source_[s].links > 0 ? source_[s].sum / source_[s].links
                                      : lexicon_.source_given_target(source[s], Lexicon::kNull));
  }
  return out;
}

}  // namespace hiero
