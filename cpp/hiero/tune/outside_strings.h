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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hiero/base/setting.h"
#include "hiero/forest/kbest.h"
#include "hiero/metrics/reference_set.h"
#include "hiero/tune/partial_derivations.h"

namespace hiero {

enum class Outside { kNothing, kConcatenation, kTopDown, kGuided };

template <>
inline constexpr std::array<std::string_view, 4> kNames<Outside>{"nothing", "concatenation", "top-down",
                                                                 "guided"};

struct OutsideOptions {
  std::size_t k = 50;          // distinct translations of the whole sentence
  std::size_t beam = 30;       // items of other spans, the best
  std::size_t recovered = 50;  // derivations that the guided backtrace adds to a span's, the best
  ReferenceLength reference_length = ReferenceLength::kAverage;
};

class OutsideStrings {
 public:
  using Span = Chart::Span;
  using Words = PartialDerivations::Words;
  struct Strings {
    Words left;
    Words right;
  };
  // A derivation that the guided backtrace found to be better than all translations of the sentence: what it
  // comes to as one, and its Bleu+1.
  struct Good {
    PartialDerivations::Id derivation;
    std::size_t string;
    double bleu;
  };

  // References, of the guided backtrace alone, are lists of tokens. Throws std::invalid_argument where it has
  // none.
  OutsideStrings(std::shared_ptr<const Chart> chart, Outside kind,
                 std::span<const std::vector<std::string>> references, const OutsideOptions& options);

  const std::shared_ptr<const Chart>& chart() const { return chart_; }
  Outside kind() const { return kind_; }
  // Spans that top-down or the guided backtrace came by, in order; all of the other kinds.
  std::vector<Span> reached() const;
  // What is around a span; see above. Throws std::out_of_range for one that is none of the sentence's.
  Strings around(Span span) const;
  // What the guided backtrace recovers for a span, best first.
  std::span<const Good> recovered(Span span) const;
  Derivation derivation(const Good& good) { return partial_.alone(good.derivation); }
  // The string of the highest potential Bleu+1 that the guided backtrace saw, that Bleu+1, and the best of
  // the k best translations.
  const Words& oracle() const { return oracle_; }
  double oracle_bleu() const { return oracle_bleu_; }
  double best_bleu() const { return best_bleu_; }

  // What tuning learns from of a span: of the whole sentence the k best translations, else the items of the
  // beam, or the best of them where the span is not reached; and what is recovered. Their `words` are whole
  // translations, or with nothing outside the span's own; their features are of the partial derivations
  // alone. Edges are in preorder; what is recovered has edges over other nodes than their tails. None for
  // spans without an item.
  KBestArrays candidates(Span span);

 private:
  using Id = PartialDerivations::Id;
  struct Place {
    std::optional<Strings> strings;  // once it is reached
    std::vector<Good> recovered;
  };
  struct Visit;
  // The best way to translate what is before or behind a place.
  struct Side {
    std::size_t untranslated = 0;  // words that no item covers
    double score = 0;
    Words words;
  };

  const Place* find(Span span) const;
  Place* find(Span span) { return const_cast<Place*>(std::as_const(*this).find(span)); }
  bool is_whole(Span span) const { return forest_.root >= 0 && span == chart_->span_of(forest_.root); }
  std::vector<NodeIndex> beam(Span span, std::size_t most) const;
  std::optional<Side> best_of(Span span);
  void concatenate();
  void top_down();
  void guide(std::span<const std::vector<std::string>> references);
  std::optional<Id> as_label(Id id, std::int32_t label);
  EdgeIndex copying(Span span, std::int32_t head, std::int32_t tail) const;
  void add_candidate(KBestArrays& out, std::span<const EdgeIndex> edges, const Words& words,
                     const PartialDerivations::Features& features) const;

  std::shared_ptr<const Chart> chart_;
  const Hypergraph& forest_;
  Outside kind_;
  OutsideOptions options_;
  PartialDerivations partial_;
  std::vector<Span> spans_;
  std::vector<Place> places_;  // by span
  std::vector<ScoredDerivation> best_;
  std::vector<Side> before_, behind_;  // by place in the sentence
  std::vector<Words> strings_;         // of what is good
  Words oracle_;
  double oracle_bleu_ = 0;
  double best_bleu_ = 0;
};

}  // namespace hiero
