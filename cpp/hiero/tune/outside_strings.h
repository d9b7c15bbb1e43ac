// Outside strings of spans (Zhai et al. 2015, section 3.2): the target words left and right of a span in a
// translation of the whole sentence, by which partial derivations are judged as parts of a translation, and
// the derivations that the guided backtrace recovers for the span.
//
// All derivations of a span have the same outside string: nothing (partial BLEU); the best translations of
// the source before and behind it (concatenation); the words around it in the first of the k best
// translations that has it (top-down); or those where the guided backtrace reaches it. Spans that the last
// two do not reach have those of concatenation.
//
// How to use: make one of a chart, then call candidates() for a span. Not for several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/setting.h"
#include "hiero/forest/kbest.h"
#include "hiero/tune/guided_backtrace.h"
#include "hiero/tune/partial_derivations.h"

namespace hiero {

enum class Outside { kNothing, kConcatenation, kTopDown, kGuided };

template <>
inline constexpr std::array<std::string_view, 4> kNames<Outside>{"nothing", "concatenation", "top-down",
                                                                 "guided"};

struct OutsideOptions {
  std::size_t k = 50;  // number of distinct translations of the whole sentence
  GuidedOptions guided;
  // How far below the worst other candidate of its span a recovered derivation may score to be one, in units
  // of the distance from the best to the worst of these.
  double margin = std::numeric_limits<double>::infinity();
};

class OutsideStrings {
 public:
  using Span = Chart::Span;
  using Words = PartialDerivations::Words;
  using Strings = PartialDerivations::Strings;

  // References are lists of tokens, for the guided backtrace only. Throws std::invalid_argument where it
  // needs them and all are empty.
  OutsideStrings(std::shared_ptr<const Chart> chart, Outside kind,
                 std::span<const std::vector<std::string>> references, const OutsideOptions& options);

  const std::shared_ptr<const Chart>& chart() const { return chart_; }
  Outside kind() const { return kind_; }
  // Spans that top-down or the guided backtrace reached, in order; all spans for the other kinds.
  std::vector<Span> reached() const;
  // Returns the outside string of a span. Throws std::out_of_range for a span that is not in the sentence.
  Strings around(Span span);
  // The derivations that the guided backtrace recovers for a span, best first, and one of them in a forest.
  std::span<const RecoveredDerivation> recovered(Span span) const;
  Derivation derivation(const RecoveredDerivation& recovered) {
    return partial_.as_forest(recovered.derivation);
  }
  const GuidedResult& guided() const { return guided_; }

  // Returns the candidates of a span for tuning: for the whole sentence the k best translations, else the
  // items of the beam, or the best item where the span is not reached; then the recovered derivations
  // that are within the margin. `words` are those of whole translations, or of the span for
  // Outside::kNothing; features are those of the partial derivations. Edges are in preorder; tails of edges
  // of recovered derivations are not the heads of the edges that follow. Spans without an item have no
  // candidates.
  KBestArrays candidates(Span span);

 private:
  using Id = PartialDerivations::Id;
  // A translation of the source before or behind a position.
  struct Side {
    std::size_t untranslated = 0;  // number of words that no item covers
    double score = 0;
    Words words;
  };

  bool is_whole(Span span) const { return forest_.root >= 0 && span == chart_->span_of(forest_.root); }
  // Tells whether all spans are reached.
  bool reaches_all() const { return kind_ == Outside::kNothing || kind_ == Outside::kConcatenation; }
  void top_down();
  void concatenate();
  bool is_word(Span span) const;
  Side best_side(Span span, bool before);
  double least_recovered(const std::vector<double>& scores) const;
  void add_candidate(KBestArrays& out, std::span<const EdgeIndex> edges, const Words& words,
                     const PartialDerivations::Features& features) const;

  std::shared_ptr<const Chart> chart_;
  const Hypergraph& forest_;
  Outside kind_;
  OutsideOptions options_;
  PartialDerivations partial_;
  std::vector<ScoredDerivation> best_;
  GuidedResult guided_;                // top-down fills in `places` only
  std::vector<Side> before_, behind_;  // by source position, computed on first use
};

}  // namespace hiero
