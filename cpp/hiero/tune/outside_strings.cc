#include "hiero/tune/outside_strings.h"

#include <algorithm>
#include <cmath>
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
    guided_ = guided_backtrace(partial_, translations, references, options.guided);
  }
}

// Runs Algorithm 1 of the paper from each of the k best derivations.
void OutsideStrings::top_down() {
  for (const ScoredDerivation& derivation : best_) {
    // From the last edge to the first: the subderivations of an edge are on top of the stack, the first one
    // topmost.
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
      // The first derivation to reach a span decides, and of unary rules the topmost.
      guided_.places.try_emplace(chart_->span_of(partial_.head(id)), GuidedResult::Place{outside, {}});
      for (std::size_t tail = partial_.tails(id).size(); tail-- > 0;) {
        if (std::optional<Strings> below = partial_.around_tail(id, tail, outside))
          open.emplace_back(partial_.tails(id)[tail], std::move(*below));
      }
    }
  }
}

std::vector<OutsideStrings::Span> OutsideStrings::reached() const {
  if (reaches_all()) return chart_->spans();
  std::vector<Span> out;
  for (const auto& [span, place] : guided_.places) out.push_back(span);
  return out;
}

OutsideStrings::Strings OutsideStrings::around(Span span) {
  const auto length = forest_.source_length();
  if (span.begin < 0 || span.begin >= span.end || span.end > length)
    throw std::out_of_range("no span of the sentence");
  if (kind_ == Outside::kNothing) return {};
  if (const auto place = guided_.places.find(span); place != guided_.places.end())
    return place->second.outside;
  if (before_.empty()) concatenate();
  return {before_[static_cast<std::size_t>(span.begin)].words,
          behind_[static_cast<std::size_t>(span.end)].words};
}

void OutsideStrings::concatenate() {
  const auto length = forest_.source_length();
  before_.resize(static_cast<std::size_t>(length) + 1);
  behind_.resize(before_.size());
  for (std::int32_t at = 1; at <= length; ++at)
    before_[static_cast<std::size_t>(at)] = best_side({0, at}, true);
  for (std::int32_t at = length; at-- > 0;)
    behind_[static_cast<std::size_t>(at)] = best_side({at, length}, false);
}

// Tells whether a span is one word, in a lattice of some path.
bool OutsideStrings::is_word(Span span) const {
  if (!forest_.is_lattice()) return span.end - span.begin == 1;
  for (std::size_t i = 0; i < forest_.source_nodes.size(); i += 2) {
    if (forest_.source_nodes[i] == span.begin && forest_.source_nodes[i + 1] == span.end) return true;
  }
  return false;
}

// Translates the source before or behind a position. Where no item covers all of it, the piece next to the
// position is joined with the best translation of the rest, such that as few words as possible are without
// translation, then the sum of scores is greatest, then the piece is longest.
OutsideStrings::Side OutsideStrings::best_side(Span span, bool before) {
  const auto score_of = [this](NodeIndex node) { return chart_->scores()[static_cast<std::size_t>(node)]; };
  if (const NodeIndex whole = chart_->best_node(span); whole >= 0)
    return {0, score_of(whole), partial_.yield(whole)};
  Side best;
  NodeIndex nearest = -1;
  const Side* rest = nullptr;
  for (std::int32_t size = 1; size <= span.end - span.begin; ++size) {
    const Span piece = before ? Span{span.end - size, span.end} : Span{span.begin, span.begin + size};
    const NodeIndex node = chart_->best_node(piece);
    // A single word may be left without translation.
    if (node < 0 && !is_word(piece)) continue;
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
  const Words piece = nearest < 0 ? Words() : partial_.yield(nearest);
  best.words = before ? joined({rest->words, {}}, piece) : joined({piece, {}}, rest->words);
  return best;
}

std::span<const RecoveredDerivation> OutsideStrings::recovered(Span span) const {
  const auto place = guided_.places.find(span);
  if (place == guided_.places.end()) return {};
  return place->second.recovered;
}

KBestArrays OutsideStrings::candidates(Span span) {
  KBestArrays out;
  out.feature_count = chart_->forest()->feature_names->size();
  if (is_whole(span)) {
    FeatureSums sums(*chart_->forest());
    for (const ScoredDerivation& derivation : best_) {
      add_candidate(out, derivation.edges, yield_words(forest_, derivation.edges), sums.of(derivation.edges));
    }
  } else {
    const bool is_reached = reaches_all() || guided_.places.contains(span);
    const std::vector<NodeIndex> beam = chart_->survivors(span, is_reached ? options_.guided.beam : 1);
    const Strings outside = beam.empty() ? Strings() : around(span);
    for (const NodeIndex node : beam) {
      add_candidate(out, chart_->derivation(node), joined(outside, partial_.yield(node)),
                    partial_.features(node));
    }
  }
  const double least = least_recovered(out.scores);
  for (const RecoveredDerivation& derivation : recovered(span)) {
    const PartialDerivations::Features features = partial_.features(derivation.derivation);
    if (partial_.score(features) < least) continue;
    std::vector<EdgeIndex> edges;
    for (const Id part : partial_.preorder(derivation.derivation)) edges.push_back(partial_.edge(part));
    add_candidate(out, edges, guided_.strings[derivation.string], features);
  }
  return out;
}

// Returns the least score of a recovered derivation that is a candidate, from the scores of the others.
double OutsideStrings::least_recovered(const std::vector<double>& scores) const {
  if (scores.empty() || std::isinf(options_.margin)) return -std::numeric_limits<double>::infinity();
  const auto [worst, best] = std::ranges::minmax(scores);
  return worst - options_.margin * (best - worst);
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
