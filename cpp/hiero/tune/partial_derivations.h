// Derivations of parts of a sentence: those that search found best for the items of a chart, and those that
// put rules over other derivations than search did, with the strings and features that they have.
//
// How to use: a derivation is a number. Those of nodes are the nodes; compose() makes more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/forest/derivation.h"

namespace hiero {

class PartialDerivations {
 public:
  using Id = std::int32_t;
  using Words = std::vector<std::int32_t>;  // indices into the forest's words
  // What stands left and right of something.
  struct Strings {
    Words left;
    Words right;
  };

  explicit PartialDerivations(std::shared_ptr<const Chart> chart);

  const Chart& chart() const { return *chart_; }
  // An edge of the chart over derivations of the spans and labels that its tails have.
  Id compose(EdgeIndex edge, std::vector<Id> tails);

  EdgeIndex edge(Id id) const;
  std::span<const Id> tails(Id id) const;
  NodeIndex head(Id id) const { return head_of(forest_, edge(id)); }

  // What it yields. Holds until the next call of compose.
  const Words& yield(Id id);
  // What stands around a tail of a derivation that has `outside` around it, eta(d_x) and xi(d_x) in the
  // paper; none where its edge's target leaves the tail out.
  std::optional<Strings> around_tail(Id id, std::size_t tail, const Strings& outside);
  // Whether its topmost edge is unary and its target is that of its tail.
  bool is_copy(Id id) const { return copies(edge(id)); }
  bool copies(EdgeIndex edge) const;
  using Features = std::vector<std::pair<std::int32_t, double>>;
  // Sums of features, sorted by feature. Costs what the derivation's edges have.
  Features features(Id id);
  double score(const Features& features) const;
  // It and the derivations that it is made of, in preorder.
  std::vector<Id> preorder(Id id) const;
  // The derivation as a forest of its own.
  Derivation alone(Id id);

 private:
  struct Composed {
    EdgeIndex edge;
    std::vector<Id> tails;
    // Once it is asked for: LM features of the edge, and the states that it comes to.
    bool scored = false;
    std::vector<double> lms;
    std::vector<ChartState> states;
  };

  bool is_node(Id id) const { return id < forest_.node_count(); }
  const Composed& composed(Id id) const {
    return composed_[static_cast<std::size_t>(id - forest_.node_count())];
  }
  void score_lms(Id id);
  // Features of the topmost edge, LM features last. Wants its LMs scored.
  template <class Visit>
  void visit_row(Id id, const Visit& visit) const;
  const ChartState* states(Id id) const {
    return is_node(id) ? chart_->states(id) : composed(id).states.data();
  }
  // By the tails first: calls visit(id) for each derivation below that `known` says no of.
  template <class Known, class Visit>
  void bottom_up(Id id, const Known& known, const Visit& visit);

  std::shared_ptr<const Chart> chart_;
  const Hypergraph& forest_;
  std::vector<Composed> composed_;
  std::vector<Words> yields_;  // by derivation; with has_yield_
  std::vector<std::uint8_t> has_yield_;
  std::vector<std::uint8_t> is_lm_;  // by feature
  std::vector<double> sums_;         // zeros between uses
};

// left, these words and right together.
PartialDerivations::Words joined(const PartialDerivations::Strings& outside,
                                 const PartialDerivations::Words& inside);

}  // namespace hiero
