// CYK+ without a dot chart (Sennrich 2014, "A CYK+ Variant for SCFG Decoding Without a Dot Chart").
// Start positions run right to left, end positions left to right; a partial match lives on the call
// stack only. When a match passes position k, all constituents that begin at k > i are known already;
// those that begin at i itself are fed in one by one as their cells are completed.
//
// In a lattice, positions are nodes, and a match goes on by every arc from its node. Limits of spans count
// the arcs of the shortest path (Dyer, Muresan and Resnik 2008).
//
// Where a span has many labels, a partial match goes through the labels that rules continue with or those
// that the span has, whichever are fewer: time grows with the number of matches, not with the product of the
// two.
//
// How to use: keep one per thread and run() it for each sentence; it reuses its memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"

namespace hiero {

class Matcher {
 public:
  explicit Matcher(const TranslationModel& model) : model_(model) {}

  // Fills `matches` with all rule applications that can be part of a derivation of the whole sentence,
  // without duplicates; cells bottom-up, so that antecedents come first. Throws FormatError for a damaged
  // table.
  void run(const Sentence& sentence, std::uint32_t span_limit, Matches& matches);

 private:
  struct Table {
    const BoundTable* bound;
    const WordId* words;
    std::uint32_t index;
    std::uint32_t span_limit;
    bool has_goal_rules;         // rules that may span any length
    std::uint32_t walk_end = 0;  // matches from the current start end here at the latest
    bool any_length = false;     // from the current start, matches may have any length
  };
  struct PendingCell {
    Cell cell;
    CellId next;  // list of cells with the same end that are not consumed yet
  };
  // The cells over one span, all consumed: [first, last) in cells_from_[begin].
  struct SpanCells {
    std::uint32_t end;
    std::uint32_t first;
    std::uint32_t last;
  };

  void start_at(std::uint32_t begin);
  void consume(CellId id);
  void extend(const Table& table, NodeId node, std::uint32_t at, std::uint32_t arity);
  void extend_by_arcs(const Table& table, NodeId node, std::uint32_t at, std::uint32_t arity);
  void measure_paths();
  void extend_over(const Table& table, NodeId gaps, std::span<const Symbol> symbols, std::uint32_t begin,
                   const SpanCells& cells, std::uint32_t arity);
  void emit(const Table& table, NodeId node, std::uint32_t end, std::uint32_t arity);
  CellId find_cell(std::uint64_t span, LabelId label) const;
  CellId cell_at(std::uint32_t begin, std::uint32_t end, LabelId label);
  std::uint32_t target_set(const Table& table, const RuleGroup& group, std::uint32_t arity);
  void finish();
  void order_cells();
  void sort_applications();

  // Whether a match from the current start may end at a position, or go on from there to where it may.
  bool reaches(const Table& table, std::uint32_t at) const {
    return is_lattice_ ? table.any_length || nearest_[at] <= table.span_limit : at <= table.walk_end;
  }
  std::uint32_t length_to(std::uint32_t end) const { return is_lattice_ ? distances_[end] : end - begin_; }
  std::uint32_t walk_end(const Table& table, std::uint32_t begin) const;
  std::uint64_t span(std::uint32_t begin, std::uint32_t end) const {
    return std::uint64_t{begin} * (n_ + 1) + end;
  }

  const TranslationModel& model_;
  Matches* matches_ = nullptr;
  std::span<const std::uint32_t> ranks_;
  const Sentence* sentence_ = nullptr;
  bool is_lattice_ = false;
  std::vector<std::uint32_t> distances_;  // by node of a lattice: arcs of the shortest path from begin_
  std::vector<std::uint32_t> nearest_;    // the least of these for all nodes that paths lead to from a node
  std::vector<std::uint32_t> path_;       // words of the partial match in a lattice
  std::uint32_t n_ = 0;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;                // cells over [begin_, end_) are being consumed
  std::uint32_t last_end_ = 0;           // largest end of the cells that begin at begin_
  std::array<CellId, kMaxArity> tails_;  // of the partial match
  std::vector<Table> tables_;
  std::vector<PendingCell> cells_;
  std::vector<CellId> pending_until_;  // by end: list of the cells from begin_ on that are not consumed yet
  std::vector<CellId> cell_index_;     // open addressing over spans and labels
  std::vector<std::vector<CellId>> cells_from_;  // by begin; cells over one span are adjacent
  std::vector<std::vector<SpanCells>> spans_from_;
  std::unordered_map<std::uint64_t, std::uint32_t> set_index_;
  // Scratch of finish().
  std::vector<CellId> order_;
  std::vector<CellId> renumber_;
  std::vector<Application> sorted_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> nexts_;
  UselessCells useless_;
};

}  // namespace hiero
