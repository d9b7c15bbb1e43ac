#include "hiero/tune/guided_backtrace.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

using Id = PartialDerivations::Id;
using Words = PartialDerivations::Words;
using Strings = PartialDerivations::Strings;

// Calls of the paper's function GUIDED are visits on an explicit stack.
class Backtrace {
 public:
  Backtrace(PartialDerivations& partial, std::span<const std::vector<std::string>> references,
            const GuidedOptions& options)
      : partial_(partial),
        chart_(partial.chart()),
        forest_(*chart_.forest()->graph),
        options_(options),
        references_(references.begin(), references.end()),
        set_({&references_, 1}),
        numbers_(set_.words(forest_.words)) {}

  GuidedResult run(std::span<const Words> translations) {
    if (translations.empty()) return std::move(out_);
    ReferenceSet::Frame alone(set_, 0, {}, {});
    for (const Words& words : translations) {
      const double bleu = bleu_of(alone, words);
      if (&words != &translations.front() && bleu <= out_.best_bleu) continue;
      out_.best_bleu = bleu;
      out_.oracle = words;
    }
    out_.oracle_bleu = out_.best_bleu;
    const Chart::Span whole = chart_.span_of(forest_.root);
    enter(whole, {}, 0);
    while (!visits_.empty()) step();
    end_sentence(out_.places.at(whole).recovered);
    return std::move(out_);
  }

 private:
  // The derivation of a split point, and the BLEU+1 of its span's outside string with its yield.
  struct Split {
    Chart::Split split;
    Id id;
    double potential;
  };
  // A call for a span: its derivations by split point, best potential first, and the next split point and
  // tail to go down to.
  struct Visit {
    Chart::Span span;
    std::size_t tail_of_caller;
    std::vector<Split> splits;
    std::size_t split = 0;
    std::size_t tail = 0;
    std::vector<RecoveredDerivation> recovered;
  };

  double bleu_of(ReferenceSet::Frame& frame, const Words& words) const {
    Words numbered;
    for (const std::int32_t word : words) numbered.push_back(numbers_[static_cast<std::size_t>(word)]);
    return bleu_plus_one(frame.bleu(numbered, options_.reference_length));
  }

  ReferenceSet::Frame frame_of(const Strings& outside) const {
    Strings numbered = outside;
    for (Words* const side : {&numbered.left, &numbered.right}) {
      for (std::int32_t& word : *side) word = numbers_[static_cast<std::size_t>(word)];
    }
    return {set_, 0, numbered.left, numbered.right};
  }

  // Applies the rule of a split point to these tails, then the unary rules above it.
  Id composed(const Chart::Split& split, std::vector<Id> tails) {
    Id id = partial_.compose(split.top.back(), std::move(tails));
    for (std::size_t i = split.top.size() - 1; i-- > 0;) id = partial_.compose(split.top[i], {id});
    return id;
  }

  void enter(Chart::Span span, Strings outside, std::size_t tail_of_caller) {
    poll_interrupts();
    Visit visit{span, tail_of_caller, {}, 0, 0, {}};
    ReferenceSet::Frame frame = frame_of(outside);
    // Items of the whole sentence are among the k best translations.
    if (span != chart_.span_of(forest_.root)) recover_items(visit, outside, frame);
    for (Chart::Split& split : chart_.splits(span)) {
      const auto tails = forest_.edge_tails(split.top.back());
      const Id id = composed(split, {tails.begin(), tails.end()});
      const double potential = bleu_of(frame, partial_.yield(id));
      visit.splits.push_back({std::move(split), id, potential});
    }
    std::ranges::stable_sort(visit.splits, std::ranges::greater(), [](const Split& split) {
      return std::tuple(split.potential, split.split.score);
    });
    out_.places[span].outside = std::move(outside);
    visits_.push_back(std::move(visit));
  }

  void recover_items(Visit& visit, const Strings& outside, ReferenceSet::Frame& frame) {
    for (const NodeIndex node : chart_.survivors(visit.span, options_.beam)) {
      const double bleu = bleu_of(frame, partial_.yield(node));
      if (bleu <= out_.best_bleu) continue;
      visit.recovered.push_back({node, out_.strings.size(), bleu});
      out_.strings.push_back(joined(outside, partial_.yield(node)));
      if (bleu <= out_.oracle_bleu) continue;
      out_.oracle_bleu = bleu;
      out_.oracle = out_.strings.back();
    }
  }

  // Continues the last call: goes down to the next tail whose span was not reached yet, or returns to its
  // caller.
  void step() {
    Visit& visit = visits_.back();
    if (visit.split == visit.splits.size()) return leave();
    const Split& split = visit.splits[visit.split];
    const auto nodes = forest_.edge_tails(split.split.top.back());
    if (visit.tail == nodes.size()) {
      ++visit.split;
      visit.tail = 0;
      return;
    }
    const std::size_t tail = visit.tail++;
    const Chart::Span below = chart_.span_of(nodes[tail]);
    if (out_.places.contains(below)) return;
    Id id = split.id;
    std::optional<Strings> outside = out_.places.at(visit.span).outside;
    for (std::size_t i = 1; outside && i < split.split.top.size(); ++i) {
      outside = partial_.around_tail(id, 0, *outside);
      id = partial_.tails(id)[0];
    }
    if (outside) outside = partial_.around_tail(id, tail, *outside);
    if (outside) enter(below, std::move(*outside), tail);
  }

  void leave() {
    const Visit done = std::move(visits_.back());
    visits_.pop_back();
    std::vector<RecoveredDerivation>& best = out_.places.at(done.span).recovered;
    best = done.recovered;
    std::ranges::stable_sort(best, std::ranges::greater(), &RecoveredDerivation::bleu);
    best.resize(std::min(best.size(), options_.recovered));
    if (!visits_.empty()) substitute(visits_.back(), done.tail_of_caller, done.recovered);
  }

  // Substitutes derivations recovered for a tail into the derivation of the visit's current split point.
  void substitute(Visit& visit, std::size_t tail, std::span<const RecoveredDerivation> derivations) {
    const Chart::Split& split = visit.splits[visit.split].split;
    const auto nodes = forest_.edge_tails(split.top.back());
    for (const RecoveredDerivation& derivation : derivations) {
      const std::optional<Id> fitting = as_label(derivation.derivation, forest_.node_labels[nodes[tail]]);
      if (!fitting) continue;
      std::vector<Id> tails(nodes.begin(), nodes.end());
      tails[tail] = *fitting;
      visit.recovered.push_back({composed(split, std::move(tails)), derivation.string, derivation.bleu});
    }
  }

  // Completes derivations recovered for the whole sentence by the rule into the root.
  void end_sentence(std::vector<RecoveredDerivation>& recovered) {
    const EdgeIndex last = forest_.edge_offsets[forest_.root];
    const std::int32_t goal = forest_.node_labels[forest_.edge_tails(last)[0]];
    std::vector<RecoveredDerivation> complete;
    for (const RecoveredDerivation& derivation : recovered) {
      if (const std::optional<Id> fitting = as_label(derivation.derivation, goal))
        complete.push_back({partial_.compose(last, {*fitting}), derivation.string, derivation.bleu});
    }
    recovered = std::move(complete);
  }

  std::int32_t label_of(Id id) const { return forest_.node_labels[partial_.head(id)]; }

  // Returns the derivation with another label: without copying unary rules on top of it, or with one more.
  std::optional<Id> as_label(Id id, std::int32_t label) {
    std::vector<Id> below{id};
    while (label_of(below.back()) != label && partial_.is_copy(below.back()))
      below.push_back(partial_.tails(below.back())[0]);
    if (label_of(below.back()) == label) return below.back();
    for (const Id id_below : below) {
      const EdgeIndex edge = copying_edge(chart_.span_of(partial_.head(id_below)), label, label_of(id_below));
      if (edge >= 0) return partial_.compose(edge, {id_below});
    }
    return std::nullopt;
  }

  // Returns the first copying edge of a span from a tail label to a head label, of the best node that has
  // one; -1 if there is none.
  EdgeIndex copying_edge(Chart::Span span, std::int32_t head, std::int32_t tail) const {
    for (const NodeIndex node : chart_.nodes(span)) {
      if (forest_.node_labels[node] != head) continue;
      for (EdgeIndex e = forest_.edge_offsets[node]; e < forest_.edge_offsets[node + 1]; ++e) {
        if (partial_.copies(e) && forest_.node_labels[forest_.edge_tails(e)[0]] == tail) return e;
      }
    }
    return -1;
  }

  PartialDerivations& partial_;
  const Chart& chart_;
  const Hypergraph& forest_;
  const GuidedOptions& options_;
  const ReferenceSet::References references_;
  const ReferenceSet set_;
  const std::vector<std::int32_t> numbers_;  // by word of the forest: its number in the references
  std::vector<Visit> visits_;
  GuidedResult out_;
};

}  // namespace

GuidedResult guided_backtrace(PartialDerivations& partial, std::span<const Words> translations,
                              std::span<const std::vector<std::string>> references,
                              const GuidedOptions& options) {
  return Backtrace(partial, references, options).run(translations);
}

}  // namespace hiero
