#include "hiero/forest/union.h"

#include <array>
#include <bit>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiero/base/interrupt.h"
#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

constexpr NodeIndex kAbsent = -1;

// Numbers the names of several forests.
class Names {
 public:
  std::int32_t add(const std::string& name) {
    const auto [entry, is_new] = index_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  std::vector<std::int32_t> add_all(const std::vector<std::string>& names) {
    std::vector<std::int32_t> out;
    for (const std::string& name : names) out.push_back(add(name));
    return out;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> index_;
};

// Numbers lists of numbers.
class Lists {
 public:
  std::int32_t add(std::vector<std::int32_t> list) {
    return index_.try_emplace(std::move(list), static_cast<std::int32_t>(index_.size())).first->second;
  }
  std::size_t size() const { return index_.size(); }

 private:
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, WordsHash, WordsEqual> index_;
};

// One numbering for several forests of their names, target templates and feature rows, and of the steps of
// their edges: a step is a rule, its target, and the span and label of the edge's head.
class Catalogue {
 public:
  struct Step {
    std::int32_t table;
    std::int64_t rule;
    std::int32_t target;
  };

  Catalogue() {
    for (auto* offsets : {&targets_.offsets, &targets_.link_offsets, &rows_.offsets}) offsets->push_back(0);
  }

  const Step& step(std::int32_t number) const { return steps_[static_cast<std::size_t>(number)]; }

  // Takes the names and templates of a forest, before its edges.
  void start(const Forest& forest) {
    const Hypergraph& graph = *forest.graph;
    label_ = labels_.add_all(graph.labels);
    table_ = tables_.add_all(graph.tables);
    feature_ = add_features(forest.feature_names);
    const std::vector<std::int32_t> word = words_.add_all(graph.words);
    target_.clear();
    for (std::int32_t t = 0; t < graph.targets->size(); ++t)
      target_.push_back(add_target(*graph.targets, t, word));
  }

  std::int32_t label_of(std::int32_t label) const {
    return label < 0 ? -1 : label_[static_cast<std::size_t>(label)];
  }

  std::int32_t add_row(const Forest& forest, EdgeIndex e) {
    for (const std::int32_t id : forest.feature_ids(e))
      rows_.ids.push_back(feature_.empty() ? id : feature_[id]);
    const auto values = forest.feature_values(e);
    rows_.values.insert(rows_.values.end(), values.begin(), values.end());
    rows_.offsets.push_back(array_offset(rows_.ids.size()));
    return static_cast<std::int32_t>(rows_.offsets.size()) - 2;
  }

  // Takes edge e into node v, whose feature row has the number `row`.
  std::int32_t add_step(const Hypergraph& graph, EdgeIndex e, NodeIndex v, std::int32_t row) {
    const std::int32_t table = graph.edge_tables[e] < 0 ? -1 : table_[graph.edge_tables[e]];
    const std::int64_t rule = graph.edge_rules[e];
    const std::int32_t target = target_[graph.edge_targets[e]];
    std::vector<std::int32_t> key{table,
                                  static_cast<std::int32_t>(rule >> 32),
                                  static_cast<std::int32_t>(rule & 0xFFFFFFFF),
                                  target,
                                  graph.node_spans[2 * v],
                                  graph.node_spans[2 * v + 1],
                                  label_of(graph.node_labels[v])};
    if (rule < 0) {
      for (std::int32_t i = rows_.offsets[row]; i < rows_.offsets[row + 1]; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(rows_.values[i]);
        key.insert(key.end(), {rows_.ids[i], static_cast<std::int32_t>(bits >> 32),
                               static_cast<std::int32_t>(bits & 0xFFFFFFFF)});
      }
    }
    const std::int32_t number = step_numbers_.add(std::move(key));
    if (static_cast<std::size_t>(number) == steps_.size()) steps_.push_back({table, rule, target});
    return number;
  }

  // Completes a forest of nodes and edges.
  Forest finish(Hypergraph graph, std::vector<std::int32_t> edge_rows) {
    graph.words = words_.take();
    graph.labels = labels_.take();
    graph.tables = tables_.take();
    graph.targets = std::make_shared<const TargetTemplates>(std::move(targets_));
    return {std::make_shared<const Hypergraph>(std::move(graph)),
            std::make_shared<const FeatureRows>(std::move(rows_)), std::move(edge_rows), features_};
  }

 private:
  // Returns the ids of a forest's features in the union; none if they are the same, as in forests of one
  // model.
  std::vector<std::int32_t> add_features(const std::shared_ptr<const FeatureNames>& names) {
    if (!features_) features_ = names;
    if (*features_ == *names) return {};
    auto all = std::make_shared<FeatureNames>(*features_);
    std::vector<std::int32_t> ids;
    for (const std::string& name : names->list()) ids.push_back(static_cast<std::int32_t>(all->add(name)));
    features_ = std::move(all);
    return ids;
  }

  std::int32_t add_target(const TargetTemplates& from, std::int32_t t,
                          const std::vector<std::int32_t>& word) {
    std::vector<std::int32_t> symbols;
    for (std::int32_t i = from.offsets[t]; i < from.offsets[t + 1]; ++i)
      symbols.push_back(from.symbols[i] < 0 ? from.symbols[i] : word[from.symbols[i]]);
    const auto links =
        std::span(from.links)
            .subspan(2 * static_cast<std::size_t>(from.link_offsets[t]),
                     2 * static_cast<std::size_t>(from.link_offsets[t + 1] - from.link_offsets[t]));
    std::span<const std::int32_t> path;
    if (!from.path_offsets.empty()) path = from.path_of(t);
    std::vector<std::int32_t> key{static_cast<std::int32_t>(symbols.size()),
                                  static_cast<std::int32_t>(links.size())};
    key.insert(key.end(), symbols.begin(), symbols.end());
    key.insert(key.end(), links.begin(), links.end());
    key.insert(key.end(), path.begin(), path.end());
    const std::int32_t number = target_numbers_.add(std::move(key));
    if (number < targets_.size()) return number;
    targets_.symbols.insert(targets_.symbols.end(), symbols.begin(), symbols.end());
    targets_.offsets.push_back(array_offset(targets_.symbols.size()));
    targets_.links.insert(targets_.links.end(), links.begin(), links.end());
    targets_.link_offsets.push_back(array_offset(targets_.links.size() / 2));
    if (from.path_offsets.empty()) return number;
    if (targets_.path_offsets.empty()) targets_.path_offsets.push_back(0);
    targets_.path.insert(targets_.path.end(), path.begin(), path.end());
    targets_.path_offsets.push_back(array_offset(targets_.path.size()));
    return number;
  }

  Names words_, labels_, tables_;
  std::shared_ptr<const FeatureNames> features_;
  TargetTemplates targets_;
  FeatureRows rows_;
  Lists target_numbers_, step_numbers_;
  std::vector<Step> steps_;
  // The current forest: numbers in the union by numbers in the forest.
  std::vector<std::int32_t> label_, table_, feature_, target_;
};

// Nodes and edges of a forest, with steps and rows numbered by the catalogue.
struct Part {
  std::vector<std::int32_t> spans;  // 2 per node
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> edge_offsets{0};
  std::vector<std::int32_t> tail_offsets{0};
  std::vector<NodeIndex> tails;
  std::vector<std::int32_t> steps, rows;  // by edge

  NodeIndex node_count() const { return static_cast<NodeIndex>(labels.size()); }
  NodeIndex root() const { return node_count() - 1; }
  std::span<const NodeIndex> tails_of(EdgeIndex e) const {
    return {tails.data() + tail_offsets[e], tails.data() + tail_offsets[e + 1]};
  }
  void end_edge(std::int32_t step, std::int32_t row) {
    tail_offsets.push_back(array_offset(tails.size()));
    steps.push_back(step);
    rows.push_back(row);
  }
  void end_node(std::int32_t begin, std::int32_t end, std::int32_t label) {
    spans.insert(spans.end(), {begin, end});
    labels.push_back(label);
    edge_offsets.push_back(array_offset(steps.size()));
  }
};

Part part_of(const Forest& forest, Catalogue& catalogue) {
  const Hypergraph& graph = *forest.graph;
  catalogue.start(forest);
  Part part;
  for (NodeIndex v = 0; v <= graph.root; ++v) {
    for (EdgeIndex e = graph.edge_offsets[v]; e < graph.edge_offsets[v + 1]; ++e) {
      const auto tails = graph.edge_tails(e);
      part.tails.insert(part.tails.end(), tails.begin(), tails.end());
      const std::int32_t row = catalogue.add_row(forest, e);
      part.end_edge(catalogue.add_step(graph, e, v, row), row);
    }
    part.end_node(graph.node_spans[2 * v], graph.node_spans[2 * v + 1],
                  catalogue.label_of(graph.node_labels[v]));
  }
  return part;
}

// The union of two forests. Its nodes are pairs: of a node of each forest, for the derivations that both
// have, or of a node of one forest and none, for the derivations that only this one has.
//
// First, for each node of the first forest in order, every edge is combined with all pairs for its tails; the
// node of the second forest that has these derivations too, if any, makes the pair that the edge belongs to.
// Then the same is done for the second forest, leaving out derivations of the first.
class Pairs {
 public:
  Pairs(const Part& first, const Part& second) : first_(first), second_(second) {}

  Part run() {
    index(first_, in_first_);
    index(second_, in_second_);
    pairs_of_first_.resize(first_.labels.size());
    pairs_of_second_.resize(second_.labels.size());
    for (NodeIndex v = 0; v < first_.node_count(); ++v) {
      gather(first_, v, pairs_of_first_, in_first_, in_second_, seconds_);
      for (const auto& [other, edges] : by_other_) add({v, other}, edges);
    }
    for (NodeIndex v = 0; v < second_.node_count(); ++v) {
      gather(second_, v, pairs_of_second_, in_second_, in_first_, firsts_);
      // Edges that the first forest has too were added before.
      if (const auto alone = by_other_.find(kAbsent); alone != by_other_.end())
        add({kAbsent, v}, alone->second);
    }
    append(root_);
    end_node(first_, first_.root());
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kPollEvery = 4096;
  using Index = std::unordered_map<std::vector<std::int32_t>, NodeIndex, WordsHash, WordsEqual>;
  struct Edges {
    std::vector<NodeIndex> tails;
    std::vector<std::array<std::int32_t, 3>> rows;  // arity, step, row
  };

  // Indexes heads by step and tails.
  static void index(const Part& part, Index& heads) {
    std::vector<std::int32_t> key;
    for (NodeIndex v = 0; v < part.node_count(); ++v) {
      for (EdgeIndex e = part.edge_offsets[v]; e < part.edge_offsets[v + 1]; ++e) {
        const auto tails = part.tails_of(e);
        key.assign(1, part.steps[e]);
        key.insert(key.end(), tails.begin(), tails.end());
        heads.try_emplace(key, v);
      }
    }
  }

  static NodeIndex head_in(const Index& heads, std::span<const std::int32_t> key) {
    const auto head = heads.find(key);
    return head == heads.end() ? kAbsent : head->second;
  }

  // Combines the edges of a node with all pairs for its tails, and groups them in `by_other_` by the node of
  // the other forest that has the same derivations; `others` are that forest's nodes by pair. If several
  // nodes of a forest have the same derivations, which a decoder's do not, the first one stands for them.
  void gather(const Part& part, NodeIndex v, const std::vector<std::vector<NodeIndex>>& pairs_of,
              const Index& own_heads, const Index& other_heads, const std::vector<NodeIndex>& others) {
    by_other_.clear();
    for (EdgeIndex e = part.edge_offsets[v]; e < part.edge_offsets[v + 1]; ++e) {
      const auto tails = part.tails_of(e);
      key_.assign(1, part.steps[e]);
      key_.insert(key_.end(), tails.begin(), tails.end());
      const bool is_first = head_in(own_heads, key_) == v;
      places_.assign(tails.size(), 0);
      do {
        if (++combined_ % kPollEvery == 0) poll_interrupts();
        choice_.clear();
        key_.assign(1, part.steps[e]);
        for (std::size_t i = 0; i < tails.size(); ++i) {
          choice_.push_back(pairs_of[tails[i]][places_[i]]);
          key_.push_back(others[choice_.back()]);
        }
        // No edge has an absent node among its tails.
        Edges& edges = by_other_[is_first ? head_in(other_heads, key_) : kAbsent];
        edges.tails.insert(edges.tails.end(), choice_.begin(), choice_.end());
        edges.rows.push_back({static_cast<std::int32_t>(tails.size()), part.steps[e], part.rows[e]});
      } while (advance(tails, pairs_of));
    }
  }

  // Goes on to the next combination; false after the last one.
  bool advance(std::span<const NodeIndex> tails, const std::vector<std::vector<NodeIndex>>& pairs_of) {
    for (std::size_t i = tails.size(); i-- > 0;) {
      if (++places_[i] < pairs_of[tails[i]].size()) return true;
      places_[i] = 0;
    }
    return false;
  }

  void add(std::pair<NodeIndex, NodeIndex> pair, const Edges& edges) {
    const bool first_is_root = pair.first == first_.root();
    const bool second_is_root = pair.second == second_.root();
    if (first_is_root || second_is_root) {
      root_.tails.insert(root_.tails.end(), edges.tails.begin(), edges.tails.end());
      root_.rows.insert(root_.rows.end(), edges.rows.begin(), edges.rows.end());
    }
    // The root of one forest may be paired with an inner node of the other, and is then a tail as well.
    if ((first_is_root || pair.first == kAbsent) && (second_is_root || pair.second == kAbsent)) return;
    if (pair.first != kAbsent) pairs_of_first_[pair.first].push_back(out_.node_count());
    if (pair.second != kAbsent) pairs_of_second_[pair.second].push_back(out_.node_count());
    firsts_.push_back(pair.first);
    seconds_.push_back(pair.second);
    append(edges);
    if (pair.first != kAbsent) {
      end_node(first_, pair.first);
    } else {
      end_node(second_, pair.second);
    }
  }

  void append(const Edges& edges) {
    auto tail = edges.tails.begin();
    for (const auto& [arity, step, row] : edges.rows) {
      out_.tails.insert(out_.tails.end(), tail, tail + arity);
      tail += arity;
      out_.end_edge(step, row);
    }
  }
  void end_node(const Part& part, NodeIndex v) {
    out_.end_node(part.spans[2 * v], part.spans[2 * v + 1], part.labels[v]);
  }

  const Part& first_;
  const Part& second_;
  Index in_first_, in_second_;
  Part out_;
  std::vector<NodeIndex> firsts_, seconds_;  // by pair
  std::vector<std::vector<NodeIndex>> pairs_of_first_, pairs_of_second_;
  Edges root_;
  std::size_t combined_ = 0;
  // The current node:
  std::map<NodeIndex, Edges> by_other_;
  std::vector<std::size_t> places_;
  std::vector<NodeIndex> choice_;
  std::vector<std::int32_t> key_;
};

}  // namespace

Forest union_of(std::span<const std::shared_ptr<Forest>> forests) {
  if (forests.empty()) throw std::invalid_argument("union: expected a forest or more");
  const Hypergraph& model = *forests.front()->graph;
  Catalogue catalogue;
  Part all;
  for (const auto& forest : forests) {
    if (forest->graph->source != model.source || forest->graph->source_nodes != model.source_nodes)
      throw std::invalid_argument("union: forests of different sentences");
    Part part = part_of(*forest, catalogue);
    if (part.node_count() == 0) continue;
    all = all.node_count() == 0 ? std::move(part) : Pairs(all, part).run();
  }
  Hypergraph graph;
  graph.source = model.source;
  graph.source_nodes = model.source_nodes;
  graph.root = all.root();
  for (const std::int32_t number : all.steps) {
    const Catalogue::Step& step = catalogue.step(number);
    graph.edge_tables.push_back(step.table);
    graph.edge_rules.push_back(step.rule);
    graph.edge_targets.push_back(step.target);
  }
  graph.node_spans = std::move(all.spans);
  graph.node_labels = std::move(all.labels);
  graph.edge_offsets = std::move(all.edge_offsets);
  graph.tail_offsets = std::move(all.tail_offsets);
  graph.tails = std::move(all.tails);
  return catalogue.finish(std::move(graph), std::move(all.rows));
}

}  // namespace hiero
