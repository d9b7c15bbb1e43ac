// Turns a search space into a forest by replay: every edge's features are read from
// its rule and its LM scores computed again from the states of its tails (those of goals are kept), so that
// weights . features is the edge's score. One scoring routine serves the best derivation, the forest and the
// chart.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/search_space.h"
#include "hiero/decode/targets.h"
#include "hiero/forest/forest.h"

namespace hiero {

class ForestBuilder {
 public:
  ForestBuilder(const TranslationModel& model, const Sentence& sentence, const Matches& matches,
                SentenceTargets& targets, const SearchSpace& space,
                std::shared_ptr<const FeatureNames> feature_names);

  // The derivation that search found best, as a forest with one edge per node.
  std::shared_ptr<const Forest> best();
  // All derivations that search kept. Needs a search that kept all edges.
  std::shared_ptr<const Forest> forest();
  // Every item of every cell, also those that no complete derivation uses.
  Chart chart(std::shared_ptr<const TranslationModel> model, std::shared_ptr<const Weights> weights);

  std::uint64_t lm_queries() const { return lm_queries_; }

 private:
  // What all edges of one target of a rule share, of which there are a dozen; features and symbols from these
  // places in `part_features_` and `part_symbols_`.
  struct RuleParts {
    std::int32_t target;
    std::uint32_t length;  // of the target side
    std::size_t features;
    std::size_t features_end;
    std::size_t symbols;  // of the first LM, then of the next
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
  std::vector<std::pair<std::uint32_t, double>> part_features_;
  std::vector<Symbol> part_symbols_;
  std::unordered_map<WordId, std::int32_t> words_;
  std::vector<std::pair<std::uint32_t, double>> row_;
  RuleRecord record_;
  std::uint64_t lm_queries_ = 0;
};

}  // namespace hiero
