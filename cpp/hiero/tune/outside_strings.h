// Outside strings of spans (Zhai et al. 2015, section 3.2): what stands left and right of a span in a
// translation of the whole sentence, so that the potential of its partial derivations can be judged, and
// which derivations the guided backtrace recovers for it.
//
// All derivations of one span have the same outside string: nothing (partial BLEU); the best translations of
// what is before and behind it (concatenation); what is around it in the first of the k best translations
// that has it (top-down); or what is around it where the guided backtrace comes by. Spans that the last two
// do not reach have those of concatenation.
//
// How to use: make one of a chart, then ask for the candidates of a span. Not to be used by two threads at
// once.
#pragma once

#include <array>
#include <cstdint>
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
  std::size_t k = 50;  // distinct translations of the whole sentence
  GuidedOptions guided;
};

class OutsideStrings {
 public:
  using Span = Chart::Span;
  using Words = PartialDerivations::Words;
  using Strings = PartialDerivations::Strings;

  // References, of the guided backtrace alone, are lists of tokens. Throws std::invalid_argument where it has
  // none.
  OutsideStrings(std::shared_ptr<const Chart> chart, Outside kind,
                 std::span<const std::vector<std::string>> references, const OutsideOptions& options);

  const std::shared_ptr<const Chart>& chart() const { return chart_; }
  Outside kind() const { return kind_; }
  // Spans that top-down or the guided backtrace came by, in order; all of the other kinds.
  std::vector<Span> reached() const;
  // What is around a span; see above. Throws std::out_of_range for one that is none of the sentence's.
  Strings around(Span span);
  // What the guided backtrace recovers for a span, best first, and one of these as a derivation.
  std::span<const GoodDerivation> recovered(Span span) const;
  Derivation derivation(const GoodDerivation& good) { return partial_.alone(good.derivation); }
  // What it saw besides; see guided_backtrace.h.
  const GuidedResult& guided() const { return found_; }

  // What tuning learns from of a span: of the whole sentence the k best translations, else the items of the
  // beam, or the best of them where the span is not reached; and what is recovered. Their `words` are whole
  // translations, or with nothing outside the span's own; their features are of the partial derivations
  // alone. Edges are in preorder; what is recovered has edges over other nodes than their tails. None for
  // spans without an item.
  KBestArrays candidates(Span span);

 private:
  using Id = PartialDerivations::Id;
  // A way to translate what is before or behind a place.
  struct Side {
    std::size_t untranslated = 0;  // words that no item covers
    double score = 0;
    Words words;
  };

  bool is_whole(Span span) const { return forest_.root >= 0 && span == chart_->span_of(forest_.root); }
  // Whether all spans have outside strings of one kind.
  bool is_even() const { return kind_ == Outside::kNothing || kind_ == Outside::kConcatenation; }
  void top_down();
  void concatenate();
  Side best_side(Span span, bool before);
  void add_candidate(KBestArrays& out, std::span<const EdgeIndex> edges, const Words& words,
                     const PartialDerivations::Features& features) const;

  std::shared_ptr<const Chart> chart_;
  const Hypergraph& forest_;
  Outside kind_;
  OutsideOptions options_;
  PartialDerivations partial_;
  std::vector<ScoredDerivation> best_;
  GuidedResult found_;                 // of top-down, places alone
  std::vector<Side> before_, behind_;  // by place in the sentence, once they are asked for
};

}  // namespace hiero
