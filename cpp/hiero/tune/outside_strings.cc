#include "hiero/tune/outside_strings.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "hiero/base/interrupt.h"
#include "hiero/forest/edge_values.h"

namespace hiero {
namespace {

using Words = OutsideStrings::Words;
using Strings = OutsideStrings::Strings;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Words joined(const Words& left, const Words& middle, const Words& right) {
  Words out = left;
  append(out, middle);
  append(out, right);
  return out;
}

// What is around a tail of an edge that has `outside` around it, `yield(i)` being that of tail i: eta(d_x)
// and xi(d_x). None where the edge's target leaves the tail out.
template <class Yield>
std::optional<Strings> around_tail(const Hypergraph& forest, EdgeIndex edge, std::size_t tail,
                                   const Strings& outside, const Yield& yield) {
  if (leaves_out(forest, edge, tail)) return std::nullopt;
  Strings out{outside.left, {}};
  bool passed = false;
  for (const std::int32_t symbol : forest.template_of(edge)) {
    Words& side = passed ? out.right : out.left;
    if (symbol >= 0) {
      side.push_back(symbol);
    } else if (const auto i = static_cast<std::size_t>(-1 - symbol); i == tail) {
      passed = true;
    } else {
      append(side, yield(i));
    }
  }
  append(out.right, outside.right);
  return out;
}

}  // namespace

// A call of the guided backtrace for a span: its derivations by split point, best potential first, and how
// far it has come with the tails of their rules.
struct OutsideStrings::Visit {
  struct Split {
    Chart::Split split;
    double potential;
  };
  Span span;
  Strings outside;
  std::size_t tail_of_caller = 0;
  std::vector<Split> splits;
  std::size_t split = 0;
  std::size_t tail = 0;
  std::vector<Good> good;

  EdgeIndex rule() const { return splits[split].split.top.back(); }
};

OutsideStrings::OutsideStrings(std::shared_ptr<const Chart> chart, Outside kind,
                               std::span<const std::vector<std::string>> references,
                               const OutsideOptions& options)
    : chart_(std::move(chart)),
      forest_(*chart_->forest()),
      kind_(kind),
      options_(options),
      partial_(chart_),
      spans_(chart_->spans()),
      places_(spans_.size()) {
  KBest lazy(forest_, forest_.root, chart_->edge_scores(), true);
  while (best_.size() < options.k) {
    std::optional<ScoredDerivation> next = lazy.next();
    if (!next) break;
    best_.push_back(std::move(*next));
  }
  if (kind != Outside::kNothing) concatenate();
  if (kind == Outside::kTopDown) top_down();
  if (kind == Outside::kGuided) guide(references);
}

const OutsideStrings::Place* OutsideStrings::find(Span span) const {
  const auto found = std::ranges::lower_bound(spans_, span);
  if (found == spans_.end() || *found != span) return nullptr;
  return &places_[static_cast<std::size_t>(found - spans_.begin())];
}

std::vector<OutsideStrings::Span> OutsideStrings::reached() const {
  std::vector<Span> out;
  const bool all = kind_ == Outside::kNothing || kind_ == Outside::kConcatenation;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (all || places_[i].strings) out.push_back(spans_[i]);
  }
  return out;
}

Strings OutsideStrings::around(Span span) const {
  const auto length = static_cast<std::int32_t>(forest_.source.size());
  if (span.begin < 0 || span.begin >= span.end || span.end > length)
    throw std::out_of_range("no span of the sentence");
  const Place* place = find(span);
  if (place && place->strings) return *place->strings;
  if (kind_ == Outside::kNothing) return {};
  return {before_[static_cast<std::size_t>(span.begin)].words,
          behind_[static_cast<std::size_t>(span.end)].words};
}

std::span<const OutsideStrings::Good> OutsideStrings::recovered(Span span) const {
  const Place* place = find(span);
  return place ? std::span<const Good>(place->recovered) : std::span<const Good>();
}

std::vector<NodeIndex> OutsideStrings::beam(Span span, std::size_t most) const {
  std::vector<NodeIndex> out = chart_->nodes(span);
  std::erase_if(out, [this](NodeIndex v) { return !chart_->survived()[static_cast<std::size_t>(v)]; });
  out.resize(std::min(out.size(), most));
  return out;
}

std::optional<OutsideStrings::Side> OutsideStrings::best_of(Span span) {
  if (!find(span)) return std::nullopt;
  const NodeIndex best = chart_->nodes(span).front();
  return Side{0, chart_->scores()[static_cast<std::size_t>(best)], partial_.yield(best)};
}

// Where no item covers all that is before a place, or behind it, what is nearest to it is cut off, and joins
// the best of the rest: as few words without translation as there can be, then the best sum of scores, then
// the longest piece.
void OutsideStrings::concatenate() {
  const auto length = static_cast<std::int32_t>(forest_.source.size());
  before_.assign(static_cast<std::size_t>(length) + 1, {});
  behind_ = before_;
  const auto better = [](const Side& a, const Side& b) {
    return a.untranslated != b.untranslated ? a.untranslated < b.untranslated : a.score > b.score;
  };
  const auto join = [](const Side& left, const Side& right) {
    return Side{left.untranslated + right.untranslated, left.score + right.score,
                joined(left.words, right.words, {})};
  };
  const Side nothing{1, 0, {}};
  for (std::int32_t at = 1; at <= length; ++at) {
    Side& side = before_[static_cast<std::size_t>(at)];
    if (std::optional<Side> whole = best_of({0, at})) {
      side = std::move(*whole);
      continue;
    }
    side = join(before_[static_cast<std::size_t>(at) - 1], nothing);
    for (std::int32_t begin = at; begin-- > 1;) {
      const std::optional<Side> piece = best_of({begin, at});
      if (!piece) continue;
      Side made = join(before_[static_cast<std::size_t>(begin)], *piece);
      if (!better(side, made)) side = std::move(made);
    }
  }
  for (std::int32_t at = length; at-- > 0;) {
    Side& side = behind_[static_cast<std::size_t>(at)];
    if (std::optional<Side> whole = best_of({at, length})) {
      side = std::move(*whole);
      continue;
    }
    side = join(nothing, behind_[static_cast<std::size_t>(at) + 1]);
    for (std::int32_t end = at + 1; end < length; ++end) {
      const std::optional<Side> piece = best_of({at, end});
      if (!piece) continue;
      Side made = join(*piece, behind_[static_cast<std::size_t>(end)]);
      if (!better(side, made)) side = std::move(made);
    }
  }
}

// Algorithm 1 of the paper, from every one of the best derivations.
void OutsideStrings::top_down() {
  for (const ScoredDerivation& derivation : best_) {
    const std::vector<EdgeIndex>& edges = derivation.edges;
    // By place in the preorder: where the tails' derivations begin, and what is yielded.
    std::vector<std::vector<std::size_t>> tails(edges.size());
    std::vector<Words> yields(edges.size());
    std::vector<std::size_t> done;
    for (std::size_t at = edges.size(); at-- > 0;) {
      for (std::size_t i = 0; i < forest_.edge_tails(edges[at]).size(); ++i) {
        tails[at].push_back(done.back());
        done.pop_back();
      }
      done.push_back(at);
      for (const std::int32_t symbol : forest_.template_of(edges[at])) {
        if (symbol >= 0) {
          yields[at].push_back(symbol);
        } else {
          append(yields[at], yields[tails[at][static_cast<std::size_t>(-1 - symbol)]]);
        }
      }
    }
    std::vector<std::optional<Strings>> outside(edges.size());
    outside[0] = Strings{};
    for (std::size_t at = 0; at < edges.size(); ++at) {
      if (!outside[at]) continue;
      Place* place = find(chart_->span_of(head_of(forest_, edges[at])));
      if (place && !place->strings) place->strings = outside[at];
      for (std::size_t i = 0; i < tails[at].size(); ++i) {
        outside[tails[at][i]] =
            around_tail(forest_, edges[at], i, *outside[at],
                        [&](std::size_t tail) -> const Words& { return yields[tails[at][tail]]; });
      }
    }
  }
}

// Algorithm 2 of the paper. What it calls GUIDED is a visit here, on a stack of our own.
void OutsideStrings::guide(std::span<const std::vector<std::string>> references) {
  const ReferenceSet::References own(references.begin(), references.end());
  const ReferenceSet set({&own, 1});
  if (forest_.root < 0) return;
  const std::vector<std::int32_t> numbers = set.words(forest_.words);
  const auto numbered = [&](const Words& words) {
    Words out;
    for (const std::int32_t word : words) out.push_back(numbers[static_cast<std::size_t>(word)]);
    return out;
  };
  ReferenceSet::Frame alone(set, 0, {}, {});
  for (const ScoredDerivation& derivation : best_) {
    Words words = yield_words(forest_, derivation.edges);
    const double bleu = bleu_plus_one(alone.bleu(numbered(words), options_.reference_length));
    if (&derivation == &best_.front() || bleu > best_bleu_) {
      best_bleu_ = bleu;
      oracle_ = std::move(words);
    }
  }
  oracle_bleu_ = best_bleu_;

  std::vector<Visit> visits;
  const auto enter = [&](Span span, Strings outside, std::size_t tail_of_caller) {
    poll_interrupts();
    Visit visit{span, std::move(outside), tail_of_caller, {}, 0, 0, {}};
    find(span)->strings = visit.outside;
    ReferenceSet::Frame frame(set, 0, numbered(visit.outside.left), numbered(visit.outside.right));
    const auto potential = [&](Id id) {
      return bleu_plus_one(frame.bleu(numbered(partial_.yield(id)), options_.reference_length));
    };
    if (!is_whole(span)) {
      for (const NodeIndex node : beam(span, options_.beam)) {
        const double bleu = potential(node);
        if (bleu <= best_bleu_) continue;
        visit.good.push_back({node, strings_.size(), bleu});
        strings_.push_back(joined(visit.outside.left, partial_.yield(node), visit.outside.right));
        if (bleu <= oracle_bleu_) continue;
        oracle_bleu_ = bleu;
        oracle_ = strings_.back();
      }
    }
    for (Chart::Split& split : chart_->splits(span)) {
      const auto nodes = forest_.edge_tails(split.top.back());
      Id id = partial_.compose(split.top.back(), {nodes.begin(), nodes.end()});
      for (std::size_t i = split.top.size() - 1; i-- > 0;) id = partial_.compose(split.top[i], {id});
      const double bleu = potential(id);
      visit.splits.push_back({std::move(split), bleu});
    }
    std::ranges::stable_sort(visit.splits, std::ranges::greater(), [](const Visit::Split& each) {
      return std::tuple(each.potential, each.split.score);
    });
    visits.push_back(std::move(visit));
  };
  // Puts what is good of a tail in its place, in the derivation of the split point that the visit is at.
  const auto take_in = [&](Visit& visit, std::size_t tail, std::span<const Good> found) {
    const std::vector<EdgeIndex>& top = visit.splits[visit.split].split.top;
    const auto nodes = forest_.edge_tails(top.back());
    for (const Good& good : found) {
      const std::optional<Id> fitting = as_label(good.derivation, forest_.node_labels[nodes[tail]]);
      if (!fitting) continue;
      std::vector<Id> tails(nodes.begin(), nodes.end());
      tails[tail] = *fitting;
      Id id = partial_.compose(top.back(), std::move(tails));
      for (std::size_t i = top.size() - 1; i-- > 0;) id = partial_.compose(top[i], {id});
      visit.good.push_back({id, good.string, good.bleu});
    }
  };

  enter(chart_->span_of(forest_.root), {}, 0);
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.split == visit.splits.size()) {
      std::vector<Good>& kept = find(visit.span)->recovered;
      kept = visit.good;
      std::ranges::stable_sort(kept, std::ranges::greater(), &Good::bleu);
      if (kept.size() > options_.recovered) kept.resize(options_.recovered);
      const Visit done = std::move(visit);
      visits.pop_back();
      if (!visits.empty()) take_in(visits.back(), done.tail_of_caller, done.good);
      continue;
    }
    const auto nodes = forest_.edge_tails(visit.rule());
    if (visit.tail == nodes.size()) {
      ++visit.split;
      visit.tail = 0;
      continue;
    }
    const std::size_t tail = visit.tail++;
    const Span below = chart_->span_of(nodes[tail]);
    if (find(below)->strings) continue;
    // Past the unary rules on top.
    std::optional<Strings> outside = visit.outside;
    const std::vector<EdgeIndex>& top = visit.splits[visit.split].split.top;
    for (std::size_t i = 0; outside && i + 1 < top.size(); ++i)
      outside = around_tail(forest_, top[i], 0, *outside, [](std::size_t) { return Words(); });
    if (outside) {
      outside = around_tail(forest_, top.back(), tail, *outside,
                            [&](std::size_t i) -> const Words& { return partial_.yield(nodes[i]); });
    }
    if (outside) enter(below, std::move(*outside), tail);
  }
  // Of the whole sentence, what is recovered becomes translations of it.
  std::vector<Good>& whole = find(chart_->span_of(forest_.root))->recovered;
  const EdgeIndex last = forest_.edge_offsets[forest_.root];
  const std::int32_t goal = forest_.node_labels[forest_.edge_tails(last)[0]];
  std::vector<Good> complete;
  for (const Good& good : whole) {
    if (const std::optional<Id> fitting = as_label(good.derivation, goal))
      complete.push_back({partial_.compose(last, {*fitting}), good.string, good.bleu});
  }
  whole = std::move(complete);
}

// The derivation with another label: without the unary rules on top of it that copy, or with one more.
std::optional<OutsideStrings::Id> OutsideStrings::as_label(Id id, std::int32_t label) {
  const auto label_of = [this](Id each) { return forest_.node_labels[partial_.head(each)]; };
  std::vector<Id> below{id};
  while (label_of(below.back()) != label) {
    const EdgeIndex edge = partial_.edge(below.back());
    const auto symbols = forest_.template_of(edge);
    if (!chart_->is_unary(edge) || symbols.size() != 1 || symbols[0] >= 0) break;
    below.push_back(partial_.tails(below.back())[0]);
  }
  if (label_of(below.back()) == label) return below.back();
  for (const Id each : below) {
    const EdgeIndex edge = copying(chart_->span_of(partial_.head(each)), label, label_of(each));
    if (edge >= 0) return partial_.compose(edge, {each});
  }
  return std::nullopt;
}

// The first unary edge of a span that copies what has one label to the other, of the best node that has one;
// -1 if there is none.
EdgeIndex OutsideStrings::copying(Span span, std::int32_t head, std::int32_t tail) const {
  for (const NodeIndex node : chart_->nodes(span)) {
    if (forest_.node_labels[node] != head) continue;
    for (EdgeIndex e = forest_.edge_offsets[node]; e < forest_.edge_offsets[node + 1]; ++e) {
      const auto symbols = forest_.template_of(e);
      if (chart_->is_unary(e) && symbols.size() == 1 && symbols[0] < 0 &&
          forest_.node_labels[forest_.edge_tails(e)[0]] == tail)
        return e;
    }
  }
  return -1;
}

KBestArrays OutsideStrings::candidates(Span span) {
  KBestArrays out;
  out.feature_count = forest_.feature_names->size();
  const Place* place = find(span);
  if (!place) return out;
  if (is_whole(span)) {
    for (const ScoredDerivation& derivation : best_) {
      add_candidate(out, derivation.edges, yield_words(forest_, derivation.edges),
                    feature_sums(forest_, derivation.edges));
    }
  } else {
    const Strings outside = around(span);
    const bool is_reached =
        kind_ == Outside::kNothing || kind_ == Outside::kConcatenation || place->strings.has_value();
    for (const NodeIndex node : beam(span, is_reached ? options_.beam : 1)) {
      add_candidate(out, chart_->derivation(node), joined(outside.left, partial_.yield(node), outside.right),
                    partial_.features(node));
    }
  }
  for (const Good& good : place->recovered) {
    std::vector<EdgeIndex> edges;
    for (const Id part : partial_.preorder(good.derivation)) edges.push_back(partial_.edge(part));
    add_candidate(out, edges, strings_[good.string], partial_.features(good.derivation));
  }
  return out;
}

void OutsideStrings::add_candidate(KBestArrays& out, std::span<const EdgeIndex> edges, const Words& words,
                                   const PartialDerivations::Features& features) const {
  out.scores.push_back(partial_.score(features));
  out.edges.insert(out.edges.end(), edges.begin(), edges.end());
  out.edge_offsets.push_back(array_offset(out.edges.size()));
  append(out.words, words);
  out.word_offsets.push_back(array_offset(out.words.size()));
  for (const auto& [feature, value] : features) {
    out.features.ids.push_back(feature);
    out.features.values.push_back(value);
  }
  out.features.offsets.push_back(array_offset(out.features.ids.size()));
}

}  // namespace hiero
