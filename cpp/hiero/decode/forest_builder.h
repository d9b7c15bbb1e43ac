// Turns a search space into a forest by replay: the features of every edge are read from its rule, and its LM
// scores are computed again from the states of its tails, so that weights . features is the edge's score.
// Only the LM scores of goals are taken from the search. One scoring routine serves the best derivation, the
// forest and the chart.
//
// How to use: make one per sentence after the search, and call best(), forest() or chart().
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/search_space.h"
#include "hiero/decode/targets.h"
#include "hiero/forest/forest.h"

namespace hiero {

class ForestBuilder {
 public:
  // `feature_names` are the model's and, behind them, those that only the sentence's rules have.
  ForestBuilder(const SentenceContext& context, SentenceTargets& targets, const SearchSpace& space,
                std::shared_ptr<const FeatureNames> feature_names);

  // The best derivation of the search space, as a forest with one edge per node.
  std::shared_ptr<const Forest> best();
  // All derivations of the search space. Needs a search with all edges, that is, not Keep::kNone.
  std::shared_ptr<const Forest> forest();
  // All items of all cells, including those that no derivation of the sentence uses. Needs all edges too.
  Chart chart(std::shared_ptr<const TranslationModel> model, std::shared_ptr<const Weights> weights);

  std::uint64_t lm_queries() const { return lm_queries_; }

 private:
  // What all edges of one rule share; on average there are a dozen of them.
  struct RuleParts {
    std::int32_t target;       // index of the target template
    std::uint32_t length;      // of the target side
    std::size_t features;      // where they begin in `part_features_`
    std::size_t features_end;  // and end
    std::size_t symbols;       // where they begin in `part_symbols_`: `length` per LM
  };

  std::shared_ptr<const Forest> build(bool best_only);
  void start();
  std::shared_ptr<const Forest> finish();
  std::span<const std::uint32_t> edges_of(ItemId item, bool best_only);
  void mark_tails(ItemId item, bool best_only);
  void add_item(ItemId item, bool best_only);
  void add_root(std::size_t goals);
  std::span<const ItemId> tails_of(const SearchEdge& edge) const {
    return space_.tails(edge, matches_.applications[edge.application].arity);
  }
  void add_edge(const SearchEdge& edge);
  const RuleParts& parts_of(const BoundTable& bound, std::uint32_t set, std::uint32_t slot, RuleId rule);
  std::int32_t add_template(const BoundTable& bound);
  std::int32_t add_path(const BoundTable& bound, const RuleParts& parts, const SearchEdge& edge);
  std::int32_t intern(WordId word);
  void rule_features(const BoundTable& bound, RuleId rule);
  void local_features(const Application& application, std::uint32_t slot);
  void lm_features(const RuleParts& parts, const Application& application, const SearchEdge& edge);
  void add_feature(std::uint32_t feature, double value);
  void finish_row();

  const TranslationModel& model_;
  const Sentence& sentence_;
  const Matches& matches_;
  SentenceTargets& targets_;
  const SearchSpace& space_;
  std::shared_ptr<const FeatureNames> feature_names_;

  std::shared_ptr<Hypergraph> out_;
  std::shared_ptr<TargetTemplates> templates_;
  std::shared_ptr<FeatureRows> rows_;
  std::vector<std::int32_t> node_of_;  // by item; -1: not in the forest
  std::vector<std::uint32_t> edges_;
  std::unordered_map<std::uint64_t, RuleParts> parts_;
  // Of a lattice: templates by target set, slot and the words of an application.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::vector<std::int32_t>>, std::int32_t> paths_;
  std::vector<std::pair<std::uint32_t, double>> part_features_;
  std::vector<Symbol> part_symbols_;
  std::vector<Symbol> path_symbols_;  // those of a lattice's templates, in their order
  std::unordered_map<WordId, std::int32_t> words_;
  std::vector<std::pair<std::uint32_t, double>> row_;
  RuleRecord record_;
  std::uint64_t lm_queries_ = 0;
};

}  // namespace hiero
