// Derivations of parts of a sentence, with their strings and features: the best derivations of the items of a
// chart, and derivations that apply rules to other antecedents than search did.
//
// How to use: a derivation is a number. The best derivation of a node has the node's number; compose() makes
// further ones.
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
  // The words left and right of something.
  struct Strings {
    Words left;
    Words right;
  };

  explicit PartialDerivations(std::shared_ptr<const Chart> chart);

  const Chart& chart() const { return *chart_; }
  // Applies an edge of the chart to derivations with the spans and labels of its tails.
  Id compose(EdgeIndex edge, std::vector<Id> tails);

  EdgeIndex edge(Id id) const;
  std::span<const Id> tails(Id id) const;
  NodeIndex head(Id id) const { return head_of(forest_, edge(id)); }

  // The words that it yields. Valid until the next call of compose.
  const Words& yield(Id id);
  // Returns the words around a tail of a derivation that has `outside` around it, eta(d_x) and xi(d_x) in the
  // paper; none where its edge's target omits the tail.
  std::optional<Strings> around_tail(Id id, std::size_t tail, const Strings& outside);
  // Tells whether its topmost edge is unary and yields the string of its tail.
  bool is_copy(Id id) const { return copies(edge(id)); }
  bool copies(EdgeIndex edge) const;
  using Features = std::vector<std::pair<std::int32_t, double>>;
  // Returns sums of features, sorted by feature. The cost depends on the features of its edges only.
  Features features(Id id);
  double score(const Features& features) const;
  // Returns the derivation and its subderivations in preorder.
  std::vector<Id> preorder(Id id) const;
  // Returns the derivation in a forest that has no other.
  Derivation as_forest(Id id);

 private:
  struct Composed {
    EdgeIndex edge;
    std::vector<Id> tails;
    // Computed on first use: LM features of the edge, and the states that result.
    bool scored = false;
    std::vector<double> lms;
    std::vector<ChartState> states;
  };

  bool is_node(Id id) const { return id < forest_.node_count(); }
  const Composed& composed(Id id) const {
    return composed_[static_cast<std::size_t>(id - forest_.node_count())];
  }
  void score_lms(Id id);
  // Visits the features of the topmost edge, LM features last. Call score_lms first.
  template <class Visit>
  void visit_row(Id id, const Visit& visit) const;
  const ChartState* states(Id id) const {
    return is_node(id) ? chart_->states(id) : composed(id).states.data();
  }
  // Calls visit(id) for the derivation and its subderivations, tails first, unless is_done(id).
  template <class IsDone, class Visit>
  void bottom_up(Id id, const IsDone& is_done, const Visit& visit);

  std::shared_ptr<const Chart> chart_;
  const Hypergraph& forest_;
  std::vector<Composed> composed_;
  std::vector<Words> yields_;  // by derivation, if has_yield_
  std::vector<std::uint8_t> has_yield_;
  std::vector<std::uint8_t> is_lm_;  // by feature
  std::vector<double> sums_;         // zeros between uses
};

// Joins the left words, these words, and the right words.
PartialDerivations::Words joined(const PartialDerivations::Strings& outside,
                                 const PartialDerivations::Words& inside);

}  // namespace hiero
