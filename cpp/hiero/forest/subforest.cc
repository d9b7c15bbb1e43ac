#include "hiero/forest/subforest.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "hiero/forest/derivation.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/inside_outside.h"

namespace hiero {

Hypergraph empty_copy(const Hypergraph& forest) {
  Hypergraph out;
  out.edge_offsets = {0};
  out.tail_offsets = {0};
  out.targets = forest.targets;
  out.ngram_order = forest.ngram_order;
  out.source = forest.source;
  out.words = forest.words;
  out.labels = forest.labels;
  out.tables = forest.tables;
  return out;
}

void append_edge(Hypergraph& out, const Hypergraph& forest, EdgeIndex e) {
  out.tail_offsets.push_back(array_offset(out.tails.size()));
  out.edge_tables.push_back(forest.edge_tables[e]);
  out.edge_rules.push_back(forest.edge_rules[e]);
  out.edge_targets.push_back(forest.edge_targets[e]);
  out.edge_origins.push_back(e);
}

Hypergraph subforest(const Hypergraph& forest, std::span<const std::uint8_t> keep) {
  if (keep.size() != static_cast<std::size_t>(forest.edge_count()))
    throw std::invalid_argument("expected a mark per edge");
  // stays[e]: kept, and so is a derivation of every tail; then also reached from the root.
  std::vector<std::uint8_t> stays(keep.begin(), keep.end());
  std::vector<std::uint8_t> derived(forest.node_count(), 0);
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      for (const NodeIndex u : forest.edge_tails(e)) stays[e] = stays[e] && derived[u];
      derived[v] = derived[v] || stays[e];
    }
  }
  Hypergraph out = empty_copy(forest);
  if (forest.root < 0 || !derived[forest.root]) return out;
  std::vector<NodeIndex> node_of(forest.node_count(), -1);
  node_of[forest.root] = 0;
  for (NodeIndex v = forest.root; v >= 0; --v) {
    if (node_of[v] < 0) continue;
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      if (!stays[e]) continue;
      for (const NodeIndex u : forest.edge_tails(e)) node_of[u] = 0;
    }
  }
  for (NodeIndex v = 0; v <= forest.root; ++v) {
    if (node_of[v] < 0) continue;
    node_of[v] = out.node_count();
    out.node_spans.insert(out.node_spans.end(), {forest.node_spans[2 * v], forest.node_spans[2 * v + 1]});
    out.node_labels.push_back(forest.node_labels[v]);
    const auto boundaries = forest.boundaries_of(v);
    out.node_boundaries.insert(out.node_boundaries.end(), boundaries.begin(), boundaries.end());
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      if (!stays[e]) continue;
      for (const NodeIndex u : forest.edge_tails(e)) out.tails.push_back(node_of[u]);
      append_edge(out, forest, e);
    }
    out.edge_offsets.push_back(out.edge_count());
  }
  out.root = out.node_count() - 1;
  return out;
}

Hypergraph prune_by_posterior(const Distribution& p, std::span<const double> scores, double least) {
  if (!(least >= 0)) throw std::invalid_argument("posterior: expected 0 or more");
  std::vector<std::uint8_t> keep;
  for (const double posterior : p.edges()) keep.push_back(posterior >= least);
  for (const EdgeIndex e : viterbi(p.forest(), scores, p.forest().root)) keep[e] = 1;
  return subforest(p.forest(), keep);
}

Hypergraph prune_by_margin(const Hypergraph& forest, std::span<const double> scores, double margin) {
  check_edge_values(forest, scores, true, "scores");
  if (!(margin >= 0)) throw std::invalid_argument("margin: expected 0 or more");
  std::vector<std::uint8_t> keep(forest.edge_count(), 0);
  if (forest.root >= 0) {
    const TropicalSemiring costs;
    const auto weight = [&](EdgeIndex e) { return -scores[e]; };
    const std::vector<double> beta = inside(forest, costs, weight);
    const std::vector<double> alpha = outside(forest, costs, weight, beta);
    for (NodeIndex v = 0; v <= forest.root; ++v) {
      for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
        double cost = alpha[v] + weight(e);
        for (const NodeIndex u : forest.edge_tails(e)) cost += beta[u];
        // Sums in another order differ by rounding.
        const double rounding = 1e-12 * (std::abs(cost) + std::abs(beta[forest.root]));
        keep[e] = cost < costs.zero() && cost - beta[forest.root] <= margin + rounding;
      }
    }
  }
  return subforest(forest, keep);
}

namespace {

// Names of several forests as one list.
class Names {
 public:
  std::int32_t add(const std::string& name) {
    const auto [found, fresh] = index_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }
  std::vector<std::int32_t> add_all(const std::vector<std::string>& names) {
    std::vector<std::int32_t> out;
    for (const std::string& name : names) out.push_back(add(name));
    return out;
  }
  const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> index_;
};

class Union {
 public:
  Union() {
    for (auto* offsets :
         {&out_.edge_offsets, &out_.tail_offsets, &targets_.offsets, &targets_.link_offsets, &rows_.offsets})
      offsets->push_back(0);
  }

  void add(const Forest& forest) {
    const Hypergraph& graph = *forest.graph;
    const std::vector<std::int32_t> label = labels_.add_all(graph.labels);
    table_ = tables_.add_all(graph.tables);
    feature_ = add_features(forest.feature_names);
    first_template_ = targets_.size();
    add_templates(*graph.targets, words_.add_all(graph.words));
    if (graph.root < 0) return;
    const NodeIndex first = out_.node_count();
    for (NodeIndex v = 0; v < graph.root; ++v) {
      out_.node_spans.insert(out_.node_spans.end(), {graph.node_spans[2 * v], graph.node_spans[2 * v + 1]});
      out_.node_labels.push_back(graph.node_labels[v] < 0 ? -1 : label[graph.node_labels[v]]);
      add_edges(forest, v, first);
      out_.edge_offsets.push_back(array_offset(out_.edge_tables.size()));
    }
    roots_.push_back({&forest, first, table_, feature_, first_template_});
  }

  Forest finish(const Hypergraph& model) {
    if (!roots_.empty()) {
      const Hypergraph& any = *roots_.front().forest->graph;
      const std::int32_t label = any.node_labels[any.root];
      out_.node_spans.insert(out_.node_spans.end(),
                             {any.node_spans[2 * any.root], any.node_spans[2 * any.root + 1]});
      out_.node_labels.push_back(label < 0 ? -1 : labels_.add(any.labels[label]));
      for (const Root& root : roots_) {
        table_ = root.table;
        feature_ = root.feature;
        first_template_ = root.first_template;
        add_edges(*root.forest, root.forest->graph->root, root.first);
      }
      out_.edge_offsets.push_back(array_offset(out_.edge_tables.size()));
      out_.root = out_.node_count() - 1;
    }
    out_.source = model.source;
    out_.words = words_.list();
    out_.labels = labels_.list();
    out_.tables = tables_.list();
    out_.targets = std::make_shared<TargetTemplates>(std::move(targets_));
    return {std::make_shared<const Hypergraph>(std::move(out_)),
            std::make_shared<const FeatureRows>(std::move(rows_)),
            {},
            features_ ? features_ : std::make_shared<const FeatureNames>()};
  }

 private:
  struct Root {
    const Forest* forest;
    NodeIndex first;
    std::vector<std::int32_t> table, feature;
    std::int32_t first_template;
  };

  // The ids of names that a forest has; none where they are the union's, as those of one model's forests are.
  std::vector<std::int32_t> add_features(const std::shared_ptr<const FeatureNames>& names) {
    if (!features_) features_ = names;
    if (*features_ == *names) return {};
    auto all = std::make_shared<FeatureNames>(*features_);
    std::vector<std::int32_t> ids;
    for (const std::string& name : names->list()) ids.push_back(static_cast<std::int32_t>(all->add(name)));
    features_ = std::move(all);
    return ids;
  }

  void add_templates(const TargetTemplates& from, const std::vector<std::int32_t>& word) {
    const std::int32_t symbols = array_offset(targets_.symbols.size());
    const std::int32_t links = array_offset(targets_.links.size() / 2);
    for (const std::int32_t symbol : from.symbols)
      targets_.symbols.push_back(symbol < 0 ? symbol : word[symbol]);
    targets_.links.insert(targets_.links.end(), from.links.begin(), from.links.end());
    array_offset(targets_.symbols.size());
    array_offset(targets_.links.size());
    for (std::int32_t t = 1; t <= from.size(); ++t) {
      targets_.offsets.push_back(symbols + from.offsets[t]);
      targets_.link_offsets.push_back(links + from.link_offsets[t]);
    }
  }

  void add_edges(const Forest& forest, NodeIndex v, NodeIndex first) {
    const Hypergraph& graph = *forest.graph;
    for (EdgeIndex e = graph.edge_offsets[v]; e < graph.edge_offsets[v + 1]; ++e) {
      for (const NodeIndex u : graph.edge_tails(e)) out_.tails.push_back(first + u);
      out_.tail_offsets.push_back(array_offset(out_.tails.size()));
      out_.edge_tables.push_back(graph.edge_tables[e] < 0 ? -1 : table_[graph.edge_tables[e]]);
      out_.edge_rules.push_back(graph.edge_rules[e]);
      out_.edge_targets.push_back(first_template_ + graph.edge_targets[e]);
      for (const std::int32_t id : forest.feature_ids(e))
        rows_.ids.push_back(feature_.empty() ? id : feature_[id]);
      const auto values = forest.feature_values(e);
      rows_.values.insert(rows_.values.end(), values.begin(), values.end());
      rows_.offsets.push_back(array_offset(rows_.ids.size()));
    }
  }

  Hypergraph out_;
  TargetTemplates targets_;
  FeatureRows rows_;
  Names words_, labels_, tables_;
  std::shared_ptr<const FeatureNames> features_;
  std::vector<Root> roots_;
  // Of the forest being added.
  std::vector<std::int32_t> table_, feature_;
  std::int32_t first_template_ = 0;
};

}  // namespace

Forest union_of(std::span<const std::shared_ptr<Forest>> forests) {
  if (forests.empty()) throw std::invalid_argument("union: expected a forest or more");
  Union all;
  for (const auto& forest : forests) {
    if (forest->graph->source != forests.front()->graph->source)
      throw std::invalid_argument("union: forests of different sentences");
    all.add(*forest);
  }
  return all.finish(*forests.front()->graph);
}

}  // namespace hiero
