#include "hiero/tune/outside_strings.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace hiero {

OutsideStrings::OutsideStrings(std::shared_ptr<const Chart> chart, Outside kind,
                               std::span<const std::vector<std::string>> references,
                               const OutsideOptions& options)
    : chart_(std::move(chart)),
      forest_(*chart_->forest()->graph),
      kind_(kind),
      options_(options),
      partial_(chart_) {
  KBest lazy(forest_, forest_.root, chart_->edge_scores(), true);
  while (best_.size() < options.k) {
    std::optional<ScoredDerivation> next = lazy.next();
    if (!next) break;
    best_.push_back(std::move(*next));
  }
  if (kind == Outside::kTopDown) top_down();
  if (kind == Outside::kGuided) {
    std::vector<Words> translations;
    for (const ScoredDerivation& derivation : best_)
      translations.push_back(yield_words(forest_, derivation.edges));
    found_ = guided_backtrace(partial_, translations, references, options.guided);
  }
}

// Algorithm 1 of the paper, from every one of the best derivations.
void OutsideStrings::top_down() {
  for (const ScoredDerivation& derivation : best_) {
    // From the last edge on, what a derivation is made of is done, the first part last.
    std::vector<Id> done;
    for (std::size_t at = derivation.edges.size(); at-- > 0;) {
      const EdgeIndex edge = derivation.edges[at];
      std::vector<Id> tails;
      for (std::size_t i = 0; i < forest_.edge_tails(edge).size(); ++i) {
        tails.push_back(done.back());
        done.pop_back();
      }
      done.push_back(partial_.compose(edge, std::move(tails)));
    }
    std::vector<std::pair<Id, Strings>> open{{done.back(), {}}};
    while (!open.empty()) {
      const auto [id, outside] = std::move(open.back());
      open.pop_back();
      // The first derivation to reach a span has its say, and of unary rules the topmost.
      found_.places.try_emplace(chart_->span_of(partial_.head(id)), GuidedResult::Place{outside, {}});
      for (std::size_t tail = partial_.tails(id).size(); tail-- > 0;) {
        if (std::optional<Strings> below = partial_.around_tail(id, tail, outside))
          open.emplace_back(partial_.tails(id)[tail], std::move(*below));
      }
    }
  }
}

std::vector<OutsideStrings::Span> OutsideStrings::reached() const {
  if (is_even()) return chart_->spans();
  std::vector<Span> out;
  for (const auto& [span, place] : found_.places) out.push_back(span);
  return out;
}

OutsideStrings::Strings OutsideStrings::around(Span span) {
  const auto length = static_cast<std::int32_t>(forest_.source.size());
  if (span.begin < 0 || span.begin >= span.end || span.end > length)
    throw std::out_of_range("no span of the sentence");
  if (kind_ == Outside::kNothing) return {};
  if (const auto found = found_.places.find(span); found != found_.places.end()) return found->second.outside;
  if (before_.empty()) concatenate();
  return {before_[static_cast<std::size_t>(span.begin)].words,
          behind_[static_cast<std::size_t>(span.end)].words};
}

void OutsideStrings::concatenate() {
  const auto length = static_cast<std::int32_t>(forest_.source.size());
  before_.resize(static_cast<std::size_t>(length) + 1);
  behind_.resize(before_.size());
  for (std::int32_t at = 1; at <= length; ++at)
    before_[static_cast<std::size_t>(at)] = best_side({0, at}, true);
  for (std::int32_t at = length; at-- > 0;)
    behind_[static_cast<std::size_t>(at)] = best_side({at, length}, false);
}

// Where no item covers all that is before a place, or behind it, what is nearest to it is cut off, and joins
// the best of the rest: as few words without translation as there can be, then the best sum of scores, then
// the longest piece.
OutsideStrings::Side OutsideStrings::best_side(Span span, bool before) {
  const auto score_of = [this](NodeIndex node) { return chart_->scores()[static_cast<std::size_t>(node)]; };
  if (const NodeIndex whole = chart_->best_node(span); whole >= 0)
    return {0, score_of(whole), partial_.yield(whole)};
  Side best;
  NodeIndex nearest = -1;
  const Side* rest = nullptr;
  for (std::int32_t size = 1; size == 1 || size < span.end - span.begin; ++size) {
    const Span piece = before ? Span{span.end - size, span.end} : Span{span.begin, span.begin + size};
    const NodeIndex node = chart_->best_node(piece);
    // A word may go without translation.
    if (node < 0 && size > 1) continue;
    const Side& other = before ? before_[static_cast<std::size_t>(piece.begin)]
                               : behind_[static_cast<std::size_t>(piece.end)];
    const std::size_t untranslated = other.untranslated + (node < 0);
    const double score = other.score + (node < 0 ? 0.0 : score_of(node));
    const bool worse =
        untranslated != best.untranslated ? untranslated > best.untranslated : score < best.score;
    if (rest && worse) continue;
    best.untranslated = untranslated;
    best.score = score;
    nearest = node;
    rest = &other;
  }
  const Words own = nearest < 0 ? Words() : partial_.yield(nearest);
  best.words = before ? joined({rest->words, {}}, own) : joined({own, {}}, rest->words);
  return best;
}

std::span<const GoodDerivation> OutsideStrings::recovered(Span span) const {
  const auto found = found_.places.find(span);
  if (found == found_.places.end()) return {};
  return found->second.recovered;
}

KBestArrays OutsideStrings::candidates(Span span) {
  KBestArrays out;
  out.feature_count = chart_->forest()->feature_names->size();
  if (is_whole(span)) {
    for (const ScoredDerivation& derivation : best_) {
      add_candidate(out, derivation.edges, yield_words(forest_, derivation.edges),
                    feature_sums(*chart_->forest(), derivation.edges));
    }
  } else {
    const bool is_reached = is_even() || found_.places.contains(span);
    const std::vector<NodeIndex> beam = chart_->survivors(span, is_reached ? options_.guided.beam : 1);
    const Strings outside = beam.empty() ? Strings() : around(span);
    for (const NodeIndex node : beam) {
      add_candidate(out, chart_->derivation(node), joined(outside, partial_.yield(node)),
                    partial_.features(node));
    }
  }
  for (const GoodDerivation& good : recovered(span)) {
    std::vector<EdgeIndex> edges;
    for (const Id part : partial_.preorder(good.derivation)) edges.push_back(partial_.edge(part));
    add_candidate(out, edges, found_.strings[good.string], partial_.features(good.derivation));
  }
  return out;
}

void OutsideStrings::add_candidate(KBestArrays& out, std::span<const EdgeIndex> edges, const Words& words,
                                   const PartialDerivations::Features& features) const {
  out.scores.push_back(partial_.score(features));
  out.edges.insert(out.edges.end(), edges.begin(), edges.end());
  out.edge_offsets.push_back(array_offset(out.edges.size()));
  out.words.insert(out.words.end(), words.begin(), words.end());
  out.word_offsets.push_back(array_offset(out.words.size()));
  for (const auto& [feature, value] : features) {
    out.features.ids.push_back(feature);
    out.features.values.push_back(value);
  }
  out.features.offsets.push_back(array_offset(out.features.ids.size()));
}

}  // namespace hiero
