#include "hiero/tune/partial_derivations.h"

#include <algorithm>

#include "hiero/forest/subforest.h"

namespace hiero {

PartialDerivations::PartialDerivations(std::shared_ptr<const Chart> chart)
    : chart_(std::move(chart)),
      forest_(*chart_->forest()->graph),
      yields_(static_cast<std::size_t>(forest_.node_count())),
      has_yield_(yields_.size(), 0),
      is_lm_(chart_->forest()->feature_names->size(), 0),
      sums_(chart_->forest()->feature_names->size(), 0.0) {
  const TranslationModel& model = chart_->model();
  for (std::size_t k = 0; k < model.lms().size(); ++k) is_lm_[model.lm_feature(k)] = 1;
}

PartialDerivations::Id PartialDerivations::compose(EdgeIndex edge, std::vector<Id> tails) {
  composed_.push_back({edge, std::move(tails), false, {}, {}});
  yields_.emplace_back();
  has_yield_.push_back(0);
  return static_cast<Id>(yields_.size() - 1);
}

EdgeIndex PartialDerivations::edge(Id id) const {
  return is_node(id) ? chart_->best_edge(id) : composed(id).edge;
}

std::span<const PartialDerivations::Id> PartialDerivations::tails(Id id) const {
  if (is_node(id)) return forest_.edge_tails(chart_->best_edge(id));
  return composed(id).tails;
}

template <class IsDone, class Visit>
void PartialDerivations::bottom_up(Id id, const IsDone& is_done, const Visit& visit) {
  std::vector<Id> open{id};
  while (!open.empty()) {
    const Id top = open.back();
    if (is_done(top)) {
      open.pop_back();
      continue;
    }
    const std::size_t before = open.size();
    for (const Id tail : tails(top)) {
      if (!is_done(tail)) open.push_back(tail);
    }
    if (open.size() > before) continue;
    visit(top);
  }
}

const PartialDerivations::Words& PartialDerivations::yield(Id id) {
  bottom_up(
      id, [this](Id part) { return has_yield_[static_cast<std::size_t>(part)] != 0; },
      [this](Id part) {
        Words& words = yields_[static_cast<std::size_t>(part)];
        const std::span<const Id> below = tails(part);
        for (const std::int32_t symbol : forest_.template_of(edge(part))) {
          if (symbol >= 0) {
            words.push_back(symbol);
          } else {
            const Words& tail =
                yields_[static_cast<std::size_t>(below[static_cast<std::size_t>(-1 - symbol)])];
            words.insert(words.end(), tail.begin(), tail.end());
          }
        }
        has_yield_[static_cast<std::size_t>(part)] = 1;
      });
  return yields_[static_cast<std::size_t>(id)];
}

std::optional<PartialDerivations::Strings> PartialDerivations::around_tail(Id id, std::size_t tail,
                                                                           const Strings& outside) {
  if (omits_tail(forest_, edge(id), tail)) return std::nullopt;
  Strings out{outside.left, {}};
  Words* side = &out.left;
  for (const std::int32_t symbol : forest_.template_of(edge(id))) {
    if (symbol >= 0) {
      side->push_back(symbol);
    } else if (const auto i = static_cast<std::size_t>(-1 - symbol); i == tail) {
      side = &out.right;
    } else {
      const Words& part = yield(tails(id)[i]);
      side->insert(side->end(), part.begin(), part.end());
    }
  }
  out.right.insert(out.right.end(), outside.right.begin(), outside.right.end());
  return out;
}

bool PartialDerivations::copies(EdgeIndex edge) const {
  const auto symbols = forest_.template_of(edge);
  return chart_->is_unary(edge) && symbols.size() == 1 && symbols[0] < 0;
}

void PartialDerivations::score_lms(Id id) {
  bottom_up(
      id, [this](Id part) { return is_node(part) || composed(part).scored; },
      [this](Id part) {
        Composed& derivation = composed_[static_cast<std::size_t>(part - forest_.node_count())];
        std::vector<const ChartState*> below;
        for (const Id tail : derivation.tails) below.push_back(states(tail));
        derivation.states.resize(chart_->model().lms().size());
        derivation.lms = chart_->lm_features(derivation.edge, below, derivation.states.data());
        derivation.scored = true;
      });
}

template <class Visit>
void PartialDerivations::visit_row(Id id, const Visit& visit) const {
  const auto ids = chart_->forest()->feature_ids(edge(id));
  const auto values = chart_->forest()->feature_values(edge(id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_node(id) || !is_lm_[static_cast<std::size_t>(ids[i])]) visit(ids[i], values[i]);
  }
  if (is_node(id)) return;
  const TranslationModel& model = chart_->model();
  for (std::size_t k = 0; k < model.lms().size(); ++k)
    visit(static_cast<std::int32_t>(model.lm_feature(k)), composed(id).lms[k]);
}

PartialDerivations::Features PartialDerivations::features(Id id) {
  score_lms(id);
  std::vector<std::int32_t> touched;
  for (const Id part : preorder(id)) {
    visit_row(part, [&](std::int32_t feature, double value) {
      touched.push_back(feature);
      sums_[static_cast<std::size_t>(feature)] += value;
    });
  }
  std::ranges::sort(touched);
  touched.erase(std::ranges::unique(touched).begin(), touched.end());
  Features out;
  for (const std::int32_t feature : touched)
    out.emplace_back(feature, std::exchange(sums_[static_cast<std::size_t>(feature)], 0.0));
  return out;
}

double PartialDerivations::score(const Features& features) const {
  double sum = 0;
  for (const auto& [feature, value] : features)
    sum += chart_->weights().values[static_cast<std::size_t>(feature)] * value;
  return sum;
}

std::vector<PartialDerivations::Id> PartialDerivations::preorder(Id id) const {
  std::vector<Id> out;
  std::vector<Id> open{id};
  while (!open.empty()) {
    const Id top = open.back();
    open.pop_back();
    out.push_back(top);
    const std::span<const Id> below = tails(top);
    open.insert(open.end(), below.rbegin(), below.rend());
  }
  return out;
}

Derivation PartialDerivations::as_forest(Id id) {
  const Features sums = features(id);
  const std::vector<Id> parts = preorder(id);
  auto out = std::make_shared<Hypergraph>(empty_copy(forest_));
  auto rows = std::make_shared<FeatureRows>();
  rows->offsets = {0};
  // From the last part to the first: the nodes of a part's tails are on top of the stack, the first one
  // topmost.
  std::vector<NodeIndex> done;
  for (std::size_t at = parts.size(); at-- > 0;) {
    const Id part = parts[at];
    const NodeIndex node = head(part);
    const Chart::Span span = chart_->span_of(node);
    for (std::size_t i = 0; i < tails(part).size(); ++i) {
      out->tails.push_back(done.back());
      done.pop_back();
    }
    done.push_back(out->node_count());
    out->node_spans.insert(out->node_spans.end(), {span.begin, span.end});
    out->node_labels.push_back(forest_.node_labels[node]);
    append_edge(*out, forest_, edge(part));
    out->edge_offsets.push_back(out->edge_count());
    Features row;
    visit_row(part, [&](std::int32_t feature, double value) { row.emplace_back(feature, value); });
    std::ranges::sort(row);
    for (const auto& [feature, value] : row) {
      rows->ids.push_back(feature);
      rows->values.push_back(value);
    }
    rows->offsets.push_back(array_offset(rows->ids.size()));
  }
  out->root = out->node_count() - 1;
  Derivation derivation{nullptr, score(sums), {}};
  for (EdgeIndex e = out->edge_count(); e-- > 0;) derivation.edges.push_back(e);
  derivation.forest = std::make_shared<const Forest>(
      Forest{std::move(out), std::move(rows), std::vector<std::int32_t>(), chart_->forest()->feature_names});
  return derivation;
}

PartialDerivations::Words joined(const PartialDerivations::Strings& outside,
                                 const PartialDerivations::Words& inside) {
  PartialDerivations::Words out = outside.left;
  out.insert(out.end(), inside.begin(), inside.end());
  out.insert(out.end(), outside.right.begin(), outside.right.end());
  return out;
}

}  // namespace hiero
