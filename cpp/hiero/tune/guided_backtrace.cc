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

// What the paper calls GUIDED is a visit here, on a stack of our own.
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
  // A derivation of a split point, composed anew, and its potential.
  struct Split {
    Chart::Split split;
    Id id;
    double potential;
  };
  // A call for a span: its derivations by split point, best potential first, and how far it has come with the
  // tails of their rules.
  struct Visit {
    Chart::Span span;
    std::size_t tail_of_caller;
    std::vector<Split> splits;
    std::size_t split = 0;
    std::size_t tail = 0;
    std::vector<GoodDerivation> good;
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

  // The rule of a split point over these tails, under the unary rules that it has on top.
  Id composed(const Chart::Split& split, std::vector<Id> tails) {
    Id id = partial_.compose(split.top.back(), std::move(tails));
    for (std::size_t i = split.top.size() - 1; i-- > 0;) id = partial_.compose(split.top[i], {id});
    return id;
  }

  void enter(Chart::Span span, Strings outside, std::size_t tail_of_caller) {
    poll_interrupts();
    Visit visit{span, tail_of_caller, {}, 0, 0, {}};
    ReferenceSet::Frame frame = frame_of(outside);
    // The items of the whole sentence's beam are translations, which are known.
    if (span != chart_.span_of(forest_.root)) look_at_beam(visit, outside, frame);
    for (Chart::Split& split : chart_.splits(span)) {
      const auto tails = forest_.edge_tails(split.top.back());
      const Id id = composed(split, {tails.begin(), tails.end()});
      const double potential = bleu_of(frame, partial_.yield(id));
      visit.splits.push_back({std::move(split), id, potential});
    }
    std::ranges::stable_sort(visit.splits, std::ranges::greater(),
                             [](const Split& each) { return std::tuple(each.potential, each.split.score); });
    out_.places[span].outside = std::move(outside);
    visits_.push_back(std::move(visit));
  }

  void look_at_beam(Visit& visit, const Strings& outside, ReferenceSet::Frame& frame) {
    for (const NodeIndex node : chart_.survivors(visit.span, options_.beam)) {
      const double bleu = bleu_of(frame, partial_.yield(node));
      if (bleu <= out_.best_bleu) continue;
      visit.good.push_back({node, out_.strings.size(), bleu});
      out_.strings.push_back(joined(outside, partial_.yield(node)));
      if (bleu <= out_.oracle_bleu) continue;
      out_.oracle_bleu = bleu;
      out_.oracle = out_.strings.back();
    }
  }

  // Goes on with the last call: into the next tail that nothing came by, or back to its caller.
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
    std::vector<GoodDerivation>& kept = out_.places.at(done.span).recovered;
    kept = done.good;
    std::ranges::stable_sort(kept, std::ranges::greater(), &GoodDerivation::bleu);
    kept.resize(std::min(kept.size(), options_.recovered));
    if (!visits_.empty()) take_in(visits_.back(), done.tail_of_caller, done.good);
  }

  // Puts what is good of a tail in its place, in the derivation of the split point that the visit is at.
  void take_in(Visit& visit, std::size_t tail, std::span<const GoodDerivation> found) {
    const Chart::Split& split = visit.splits[visit.split].split;
    const auto nodes = forest_.edge_tails(split.top.back());
    for (const GoodDerivation& good : found) {
      const std::optional<Id> fitting = as_label(good.derivation, forest_.node_labels[nodes[tail]]);
      if (!fitting) continue;
      std::vector<Id> tails(nodes.begin(), nodes.end());
      tails[tail] = *fitting;
      visit.good.push_back({composed(split, std::move(tails)), good.string, good.bleu});
    }
  }

  // What is recovered of the whole sentence becomes translations of it.
  void end_sentence(std::vector<GoodDerivation>& recovered) {
    const EdgeIndex last = forest_.edge_offsets[forest_.root];
    const std::int32_t goal = forest_.node_labels[forest_.edge_tails(last)[0]];
    std::vector<GoodDerivation> complete;
    for (const GoodDerivation& good : recovered) {
      if (const std::optional<Id> fitting = as_label(good.derivation, goal))
        complete.push_back({partial_.compose(last, {*fitting}), good.string, good.bleu});
    }
    recovered = std::move(complete);
  }

  std::int32_t label_of(Id id) const { return forest_.node_labels[partial_.head(id)]; }

  // The derivation with another label: without the unary rules on top of it that copy, or with one more.
  std::optional<Id> as_label(Id id, std::int32_t label) {
    std::vector<Id> below{id};
    while (label_of(below.back()) != label && partial_.is_copy(below.back()))
      below.push_back(partial_.tails(below.back())[0]);
    if (label_of(below.back()) == label) return below.back();
    for (const Id each : below) {
      const EdgeIndex edge = copying(chart_.span_of(partial_.head(each)), label, label_of(each));
      if (edge >= 0) return partial_.compose(edge, {each});
    }
    return std::nullopt;
  }

  // The first edge of a span that copies what has one label to the other, of the best node that has one; -1
  // if there is none.
  EdgeIndex copying(Chart::Span span, std::int32_t head, std::int32_t tail) const {
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
  const std::vector<std::int32_t> numbers_;  // of the forest's words, as the references have them
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
