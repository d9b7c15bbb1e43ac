// The source-side parse of a sentence, before any target side is considered: cells (span and label) and the
// rule applications that derive them. Filled by Matcher. Cells are in bottom-up order, so that the tails of
// an application have smaller ids than its cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

using CellId = std::uint32_t;
inline constexpr CellId kNoCell = ~CellId{0};

// All rules of one source side and label, applied to one span with one choice of antecedent cells.
struct Application {
  CellId cell;
  std::uint32_t targets;     // index into Matches::target_sets
  std::uint32_t first_tail;  // in Matches::tail_cells
  std::uint32_t arity;
  std::uint32_t path = 0;  // of a lattice: where its words are in Matches::paths
  std::uint32_t row =
      0;  // its first row in the batch for features of rules, if there is one (local_scores.h)
};

// A rule group that matches somewhere in the sentence; shared by all its applications.
struct TargetSet {
  std::uint32_t table;
  std::uint32_t arity;  // nonterminals of the source side
  RuleGroup group;
  // If only some of the group's rules apply, they are [first_slot, first_slot + slot_count) in
  // Matches::slots.
  std::uint32_t first_slot = 0;
  std::uint32_t slot_count = 0;

  std::uint32_t size() const { return slot_count > 0 ? slot_count : group.count; }
};

struct Cell {
  std::uint32_t begin;
  std::uint32_t end;
  LabelId label;
  // Applications [first, last) in Matches::applications.
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct Matches {
  std::uint32_t length = 0;
  std::vector<Cell> cells;
  std::vector<Application> applications;  // grouped by cell, in the order matched
  std::vector<CellId> tail_cells;
  std::vector<TargetSet> target_sets;
  std::vector<std::uint32_t>
      slots;  // of target sets that are a part of their group: rules less the group's first
  // Of a lattice, the words that applications have: their number, and then their indices in order. Empty for
  // a string, whose words between the antecedents they are.
  std::vector<std::uint32_t> paths;
  CellId goal = kNoCell;  // the goal label over the whole sentence

  // The antecedent cells of an application in source order.
  std::span<const CellId> tails(const Application& application) const {
    return {tail_cells.data() + application.first_tail, application.arity};
  }
  // The words of an application of a lattice.
  std::span<const std::uint32_t> path(const Application& application) const {
    return {paths.data() + application.path + 1, paths[application.path]};
  }
  // The slot of a target set's rule number `i`, below its size().
  std::uint32_t slot(const TargetSet& set, std::uint32_t i) const {
    return set.slot_count > 0 ? slots[set.first_slot + i] : i;
  }
  // Calls use(position) for the source words of an application's rule, of a lattice its words' indices.
  template <class Use>
  void visit_words(const Application& application, const Use& use) const {
    if (!paths.empty()) {
      const auto words = path(application);
      std::ranges::for_each(words, use);
      return;
    }
    std::uint32_t at = cells[application.cell].begin;
    for (const CellId tail : tails(application)) {
      for (; at < cells[tail].begin; ++at) use(at);
      at = cells[tail].end;
    }
    for (; at < cells[application.cell].end; ++at) use(at);
  }

  void clear() {
    cells.clear();
    applications.clear();
    tail_cells.clear();
    target_sets.clear();
    slots.clear();
    paths.clear();
    goal = kNoCell;
  }
};

// Drops cells that no derivation of the goal has, with their applications: all, if there is no goal. Keep one
// per thread, as it reuses its memory.
class UselessCells {
 public:
  void drop(Matches& matches);

 private:
  std::vector<char> useful_;
  std::vector<CellId> renumber_;
  std::vector<CellId> tail_cells_;
};

// Drops the applications for which `keep` returns false, which may change the others, those without a
// derivation of an antecedent, and then useless cells.
template <class Keep>
void keep_applications(Matches& matches, UselessCells& useless, const Keep& keep) {
  const auto is_empty = [&](CellId cell) { return matches.cells[cell].first == matches.cells[cell].last; };
  std::uint32_t kept = 0;
  for (Cell& cell : matches.cells) {
    const std::uint32_t first = kept;
    for (std::uint32_t a = cell.first; a < cell.last; ++a) {
      Application application = matches.applications[a];
      if (std::ranges::none_of(matches.tails(application), is_empty) && keep(application))
        matches.applications[kept++] = application;
    }
    cell.first = first;
    cell.last = kept;
  }
  matches.applications.resize(kept);
  if (matches.goal != kNoCell && is_empty(matches.goal)) matches.goal = kNoCell;
  useless.drop(matches);
}

}  // namespace hiero
