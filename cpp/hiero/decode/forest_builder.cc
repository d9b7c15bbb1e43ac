#include "hiero/decode/forest_builder.h"

#include <algorithm>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"

namespace hiero {

ForestBuilder::ForestBuilder(const SentenceContext& context, SentenceTargets& targets,
                             const SearchSpace& space, std::shared_ptr<const FeatureNames> feature_names)
    : model_(context.model),
      sentence_(context.sentence),
      matches_(context.matches),
      targets_(targets),
      space_(space),
      feature_names_(std::move(feature_names)) {}

std::shared_ptr<const Forest> ForestBuilder::best() { return build(true); }
std::shared_ptr<const Forest> ForestBuilder::forest() { return build(false); }

std::shared_ptr<const Forest> ForestBuilder::build(bool best_only) {
  start();
  if (!space_.goals.empty()) {
    const std::size_t goals = best_only ? 1 : space_.goals.size();
    for (std::size_t g = 0; g < goals; ++g) node_of_[space_.goals[g].item] = 0;
    // Tails have smaller item ids than heads, so one pass down marks what the goals reach.
    for (ItemId item = static_cast<ItemId>(node_of_.size()); item-- > 0;) {
      if (node_of_[item] == 0) mark_tails(item, best_only);
    }
    for (ItemId item = 0; item < node_of_.size(); ++item) {
      if (item % 1024 == 0) poll_interrupts();
      if (node_of_[item] == 0) add_item(item, best_only);
    }
    add_root(goals);
  }
  return finish();
}

Chart ForestBuilder::chart(std::shared_ptr<const TranslationModel> model,
                           std::shared_ptr<const Weights> weights) {
  start();
  Chart::Parts parts{std::move(model), std::move(weights), nullptr, {}, {}, {}, {}};
  parts.survived.assign(space_.items.size(), 0);
  for (CellId cell = 0; cell < matches_.cells.size(); ++cell) {
    for (ItemId item : space_.survivors[cell]) parts.survived[item] = 1;
  }
  parts.completed.assign(space_.items.size(), 0);
  for (ItemId item : space_.completed) parts.completed[item] = 1;
  for (ItemId item = 0; item < space_.items.size(); ++item) {
    if (item % 1024 == 0) poll_interrupts();
    add_item(item, false);
    const ChartState* const states = space_.items[item].states;
    parts.states.insert(parts.states.end(), states, states + model_.lms().size());
  }
  if (!space_.goals.empty()) {
    add_root(space_.goals.size());
    parts.survived.push_back(1);
    parts.completed.push_back(0);
  }
  parts.lm_symbols = std::move(out_->is_lattice() ? path_symbols_ : part_symbols_);
  parts.forest = finish();
  return Chart(std::move(parts));
}

void ForestBuilder::start() {
  out_ = std::make_shared<Hypergraph>();
  templates_ = std::make_shared<TargetTemplates>();
  rows_ = std::make_shared<FeatureRows>();
  out_->targets = templates_;
  node_of_.assign(space_.items.size(), -1);
  parts_.clear();
  paths_.clear();
  part_features_.clear();
  part_symbols_.clear();
  path_symbols_.clear();
  words_.clear();
  out_->edge_offsets.push_back(0);
  out_->tail_offsets.push_back(0);
  templates_->offsets.push_back(0);
  templates_->link_offsets.push_back(0);
  rows_->offsets.push_back(0);
  out_->source = sentence_.tokens();
  for (const LatticeArc& arc : sentence_.lattice().arcs) {
    out_->source_nodes.push_back(static_cast<std::int32_t>(arc.begin));
    out_->source_nodes.push_back(static_cast<std::int32_t>(arc.end));
  }
  if (out_->is_lattice()) templates_->path_offsets.push_back(0);
  out_->labels = model_.labels();
  for (std::size_t t = 0; t < sentence_.table_count(); ++t) out_->tables.push_back(sentence_.table(t).owner);
}

std::shared_ptr<const Forest> ForestBuilder::finish() {
  return std::make_shared<const Forest>(
      Forest{std::move(out_), std::move(rows_), std::vector<std::int32_t>(), feature_names_});
}

void ForestBuilder::mark_tails(ItemId item, bool best_only) {
  for (std::uint32_t e : edges_of(item, best_only)) {
    for (ItemId tail : tails_of(space_.edges[e])) node_of_[tail] = 0;
  }
}

// Returns the incoming edges of an item in the order in which the search added them, or its best edge alone.
std::span<const std::uint32_t> ForestBuilder::edges_of(ItemId item, bool best_only) {
  edges_.clear();
  const std::vector<SearchEdge>& all = space_.edges;
  for (std::uint32_t e = space_.items[item].edge; e != kNoEdge; e = all[e].next) edges_.push_back(e);
  std::reverse(edges_.begin(), edges_.end());
  if (best_only) {
    const auto best = std::max_element(edges_.begin(), edges_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return all[a].score < all[b].score;
    });
    edges_ = {*best};
  }
  return edges_;
}

void ForestBuilder::add_item(ItemId item, bool best_only) {
  node_of_[item] = static_cast<std::int32_t>(out_->node_labels.size());
  const Cell& cell = matches_.cells[space_.item_cells[item]];
  out_->node_spans.push_back(static_cast<std::int32_t>(cell.begin));
  out_->node_spans.push_back(static_cast<std::int32_t>(cell.end));
  out_->node_labels.push_back(static_cast<std::int32_t>(cell.label));
  for (std::uint32_t e : edges_of(item, best_only)) add_edge(space_.edges[e]);
  out_->edge_offsets.push_back(array_offset(out_->edge_tables.size()));
}

void ForestBuilder::add_root(std::size_t goals) {
  out_->root = static_cast<NodeIndex>(out_->node_labels.size());
  out_->node_spans.insert(out_->node_spans.end(), {0, static_cast<std::int32_t>(sentence_.length())});
  out_->node_labels.push_back(-1);
  templates_->symbols.push_back(-1);  // the goal item's yield
  const auto copy = static_cast<std::int32_t>(templates_->offsets.size() - 1);
  templates_->offsets.push_back(array_offset(templates_->symbols.size()));
  templates_->link_offsets.push_back(array_offset(templates_->links.size() / 2));
  if (out_->is_lattice()) templates_->path_offsets.push_back(array_offset(templates_->path.size()));
  for (std::size_t g = 0; g < goals; ++g) {
    const Goal& goal = space_.goals[g];
    out_->tails.push_back(node_of_[goal.item]);
    out_->tail_offsets.push_back(array_offset(out_->tails.size()));
    out_->edge_tables.push_back(-1);
    out_->edge_rules.push_back(-1);
    out_->edge_targets.push_back(copy);
    for (std::size_t k = 0; k < model_.lms().size(); ++k)
      add_feature(model_.lm_feature(k), goal.lm_scores[k]);
    finish_row();
  }
  out_->edge_offsets.push_back(array_offset(out_->edge_tables.size()));
}

void ForestBuilder::add_edge(const SearchEdge& edge) {
  const Application& application = matches_.applications[edge.application];
  const TargetSet& set = matches_.target_sets[application.targets];
  for (ItemId tail : tails_of(edge)) out_->tails.push_back(node_of_[tail]);
  out_->tail_offsets.push_back(array_offset(out_->tails.size()));
  out_->edge_tables.push_back(static_cast<std::int32_t>(set.table));
  out_->edge_rules.push_back(std::int64_t{set.group.first_rule} + edge.slot);
  const RuleParts& parts =
      parts_of(sentence_.table(set.table), application.targets, edge.slot, set.group.first_rule + edge.slot);
  out_->edge_targets.push_back(out_->is_lattice() ? add_path(sentence_.table(set.table), parts, edge)
                                                  : parts.target);
  row_.assign(part_features_.begin() + static_cast<std::ptrdiff_t>(parts.features),
              part_features_.begin() + static_cast<std::ptrdiff_t>(parts.features_end));
  local_features(application, edge.slot);
  lm_features(parts, application, edge);
  finish_row();
}

const ForestBuilder::RuleParts& ForestBuilder::parts_of(const BoundTable& bound, std::uint32_t set,
                                                        std::uint32_t slot, RuleId rule) {
  const auto [it, added] = parts_.try_emplace((std::uint64_t{set} << 32) | slot);
  RuleParts& parts = it->second;
  if (!added) return parts;
  bound.table->record(rule, record_);
  if (!out_->is_lattice()) parts.target = add_template(bound);
  parts.length = static_cast<std::uint32_t>(record_.target.size());
  rule_features(bound, rule);
  parts.features = part_features_.size();
  part_features_.insert(part_features_.end(), row_.begin(), row_.end());
  parts.features_end = part_features_.size();
  parts.symbols = part_symbols_.size();
  for (std::size_t k = 0; k < model_.lms().size(); ++k) {
    for (Symbol symbol : record_.target) {
      part_symbols_.push_back(is_nonterminal(symbol) ? symbol : bound.estimates.lm_words[k][symbol]);
    }
  }
  return parts;
}

std::int32_t ForestBuilder::add_template(const BoundTable& bound) {
  for (Symbol symbol : record_.target) {
    templates_->symbols.push_back(is_nonterminal(symbol) ? -1 - static_cast<std::int32_t>(payload(symbol))
                                                         : intern(bound.model_word(symbol)));
  }
  templates_->offsets.push_back(array_offset(templates_->symbols.size()));
  for (const AlignmentLink& link : record_.links) {
    templates_->links.push_back(static_cast<std::int32_t>(link.source));
    templates_->links.push_back(static_cast<std::int32_t>(link.target));
  }
  templates_->link_offsets.push_back(array_offset(templates_->links.size() / 2));
  return static_cast<std::int32_t>(templates_->offsets.size() - 2);
}

// Returns the template of an application of a lattice, which has its words.
std::int32_t ForestBuilder::add_path(const BoundTable& bound, const RuleParts& parts,
                                     const SearchEdge& edge) {
  const Application& application = matches_.applications[edge.application];
  const auto words = matches_.path(application);
  std::vector<std::int32_t> path(words.begin(), words.end());
  const auto [it, added] = paths_.try_emplace({application.targets, edge.slot, std::move(path)}, 0);
  if (!added) return it->second;
  const TargetSet& set = matches_.target_sets[application.targets];
  bound.table->record(set.group.first_rule + edge.slot, record_);
  it->second = add_template(bound);
  const std::vector<std::int32_t>& added_path = std::get<2>(it->first);
  templates_->path.insert(templates_->path.end(), added_path.begin(), added_path.end());
  templates_->path_offsets.push_back(array_offset(templates_->path.size()));
  const auto symbols = part_symbols_.begin() + static_cast<std::ptrdiff_t>(parts.symbols);
  path_symbols_.insert(path_symbols_.end(), symbols,
                       symbols + static_cast<std::ptrdiff_t>(parts.length * model_.lms().size()));
  return it->second;
}

std::int32_t ForestBuilder::intern(WordId word) {
  const auto [it, added] = words_.try_emplace(word, static_cast<std::int32_t>(out_->words.size()));
  if (added) out_->words.emplace_back(sentence_.word(word));
  return it->second;
}

void ForestBuilder::rule_features(const BoundTable& bound, RuleId rule) {
  row_.clear();
  const std::span<const float> dense = bound.table->dense(rule, 1);
  for (std::size_t f = 0; f < dense.size(); ++f) add_feature(bound.features[f], dense[f]);
  for (const SparseFeature& sparse : record_.sparse)
    add_feature(bound.features[sparse.feature], sparse.value);
  add_feature(model_.word_penalty(), -static_cast<double>(bound.estimates.target_words[rule]));
  if (bound.is_extracted && !bound.has_rule_penalty) add_feature(model_.rule_penalty(), 1.0);
}

void ForestBuilder::local_features(const Application& application, std::uint32_t slot) {
  if (!targets_.local().any()) return;
  targets_.local().visit(application, slot,
                         [this](std::uint32_t feature, double value) { add_feature(feature, value); });
}

void ForestBuilder::lm_features(const RuleParts& parts, const Application& application,
                                const SearchEdge& edge) {
  const bool after_bos = targets_.follows_bos(application);
  for (std::size_t k = 0; k < model_.lms().size(); ++k) {
    const std::span<const Symbol> symbols(part_symbols_.data() + parts.symbols + k * parts.length,
                                          parts.length);
    const ChartState* tails[kMaxArity] = {};
    std::size_t count = 0;
    for (ItemId tail : tails_of(edge)) tails[count++] = &space_.items[tail].states[k];
    ChartState state;
    add_feature(model_.lm_feature(k),
                model_.lms()[k]->score_rule(symbols, tails, after_bos, state, lm_queries_));
    const auto oov = std::count(symbols.begin(), symbols.end(), Symbol{LanguageModel::kUnknown});
    add_feature(model_.oov_feature(k), static_cast<double>(oov));
  }
}

void ForestBuilder::add_feature(std::uint32_t feature, double value) {
  if (value != 0.0) row_.emplace_back(feature, value * model_.scale(feature));
}

// Writes the collected features, sorted, as one matrix row; values of one feature are summed.
void ForestBuilder::finish_row() {
  std::sort(row_.begin(), row_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < row_.size(); ++i) {
    if (i > 0 && row_[i].first == row_[i - 1].first) {
      rows_->values.back() += row_[i].second;
    } else {
      rows_->ids.push_back(static_cast<std::int32_t>(row_[i].first));
      rows_->values.push_back(row_[i].second);
    }
  }
  row_.clear();
  rows_->offsets.push_back(array_offset(rows_->ids.size()));
}

}  // namespace hiero
