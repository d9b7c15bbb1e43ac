// The source-side parse of a sentence, before any target side is considered: cells (span and label) and the
// rule applications that derive them. Filled by Matcher. Cells are in bottom-up order, so that the tails of
// an application have smaller ids than its cell.
#pragma once

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
  std::uint32_t row =
      0;  // its first row in the batch for features of rules, if there is one (local_scores.h)
};

// A rule group that matches somewhere in the sentence; shared by all its applications.
struct TargetSet {
  std::uint32_t table;
  std::uint32_t arity;  // nonterminals of the source side
  RuleGroup group;
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
  CellId goal = kNoCell;  // the goal label over the whole sentence

  // The antecedent cells of an application in source order.
  std::span<const CellId> tails(const Application& application) const {
    return {tail_cells.data() + application.first_tail, application.arity};
  }

  void clear() {
    cells.clear();
    applications.clear();
    tail_cells.clear();
    target_sets.clear();
    goal = kNoCell;
  }
};

}  // namespace hiero
