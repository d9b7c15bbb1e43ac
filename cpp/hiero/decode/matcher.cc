#include "hiero/decode/matcher.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

// The most rule applications: they bound memory, which a deadline does not. Those of a lattice grow with the
// number of its paths.
constexpr std::size_t kMost = 10'000'000;
constexpr const char* kTooMany =
    "over 10,000,000 rule applications: the sentence is too long, or rules may span too much of it";
constexpr std::size_t kMostOfLattice = 5'000'000;
constexpr const char* kTooManyPaths =
    "lattice: over 5,000,000 rule applications; it has too many paths within the span limit";
constexpr std::size_t kFirstCellSlots = 1024;  // size of the index of cells at first

std::size_t hash_cell(std::uint64_t span, LabelId label) {
  const std::uint64_t hash = (span * 0x9E3779B97F4A7C15ull) ^ (label * 0xBF58476D1CE4E5B9ull);
  return hash ^ (hash >> 29);
}

}  // namespace

void Matcher::run(const Sentence& sentence, std::uint32_t span_limit, Matches& matches) {
  matches.clear();
  matches_ = &matches;
  ranks_ = sentence.ranks();
  sentence_ = &sentence;
  is_lattice_ = sentence.lattice().any();
  path_.clear();
  n_ = matches.length = sentence.length();
  cells_.clear();
  cell_index_.assign(kFirstCellSlots, kNoCell);
  set_index_.clear();
  if (cells_from_.size() < n_) {
    cells_from_.resize(n_);
    spans_from_.resize(n_);
  }
  tables_.clear();
  for (std::size_t t = 0; t < sentence.table_count(); ++t) {
    const BoundTable& bound = sentence.table(t);
    const std::uint32_t limit = bound.span_limit > 0 ? bound.span_limit : span_limit;
    tables_.push_back(
        {&bound, sentence.words(t).data(), static_cast<std::uint32_t>(t), limit, bound.has_goal_rules});
  }
  pending_until_.assign(n_ + 1, kNoCell);
  for (std::uint32_t begin = n_; begin-- > 0;) {
    poll_interrupts();
    start_at(begin);
  }
  finish();
}

std::uint32_t Matcher::walk_end(const Table& table, std::uint32_t begin) const {
  return table.any_length ? n_
                          : static_cast<std::uint32_t>(
                                std::min<std::uint64_t>(n_, std::uint64_t{begin} + table.span_limit));
}

// Fills distances_ and nearest_ for the current start.
void Matcher::measure_paths() {
  constexpr std::uint32_t kFar = ~std::uint32_t{0};
  distances_.assign(n_ + 1, kFar);
  distances_[begin_] = 0;
  for (std::uint32_t node = begin_; node < n_; ++node) {
    if (distances_[node] == kFar) continue;
    for (std::uint32_t arc = sentence_->first_arc(node); arc < sentence_->first_arc(node + 1); ++arc) {
      std::uint32_t& distance = distances_[sentence_->lattice().arcs[arc].end];
      distance = std::min(distance, distances_[node] + 1);
    }
  }
  nearest_ = distances_;
  for (std::uint32_t node = n_; node-- > begin_;) {
    for (std::uint32_t arc = sentence_->first_arc(node); arc < sentence_->first_arc(node + 1); ++arc)
      nearest_[node] = std::min(nearest_[node], nearest_[sentence_->lattice().arcs[arc].end]);
  }
}

void Matcher::start_at(std::uint32_t begin) {
  begin_ = begin;
  end_ = begin;
  last_end_ = begin;
  if (is_lattice_) measure_paths();
  for (Table& table : tables_) {
    table.any_length = table.has_goal_rules && (begin == 0 || !model_.goal_is_anchored());
    table.walk_end = walk_end(table, begin);
    if (is_lattice_) {
      extend_by_arcs(table, RuleTable::kRoot, begin, 0);
      continue;
    }
    const WordId word = table.words[begin];
    if (word == kNoWord || table.walk_end == begin) continue;
    const NodeId node = table.bound->table->child(RuleTable::kRoot, word);
    if (node != RuleTable::kNoNode) extend(table, node, begin + 1, 0);
  }
  cells_from_[begin].clear();
  spans_from_[begin].clear();
  // Cells that are added meanwhile end here or further right.
  for (end_ = begin + 1; end_ <= last_end_; ++end_) {
    const auto first = static_cast<std::uint32_t>(cells_from_[begin].size());
    for (CellId id = pending_until_[end_]; id != kNoCell; id = cells_[id].next)
      cells_from_[begin].push_back(id);
    pending_until_[end_] = kNoCell;
    // Unary rules add cells over this span while its cells are consumed.
    for (std::size_t c = first; c < cells_from_[begin].size(); ++c) consume(cells_from_[begin][c]);
    const auto last = static_cast<std::uint32_t>(cells_from_[begin].size());
    if (last > first) spans_from_[begin].push_back({end_, first, last});
  }
}

// Starts to match every rule whose source side begins with the constituent.
void Matcher::consume(CellId id) {
  const LabelId label = cells_[id].cell.label;
  for (const Table& table : tables_) {
    const LabelId local = table.bound->local_labels[label];
    if (local == kNoLabel || !reaches(table, end_)) continue;
    const NodeId node = table.bound->table->child(RuleTable::kRoot, nonterminal(local));
    if (node == RuleTable::kNoNode) continue;
    tails_[0] = id;
    extend(table, node, end_, 1);
  }
}

// Records the rules of `node`, which matches [begin_, at), and extends the match by one symbol.
void Matcher::extend(const Table& table, NodeId node, std::uint32_t at, std::uint32_t arity) {
  emit(table, node, at, arity);
  if (is_lattice_ ? at == n_ : at >= table.walk_end) return;
  const RuleTable& rules = *table.bound->table;
  const auto [first, last] = rules.children(node);
  if (first == last) return;
  const std::span<const Symbol> symbols = rules.symbols(first, last);
  // Nonterminal children come last.
  const auto gap = std::ranges::lower_bound(symbols, kNonterminalBit) - symbols.begin();
  if (gap > 0 && is_lattice_) {
    extend_by_arcs(table, node, at, arity);
  } else if (gap > 0) {
    const WordId word = table.words[at];
    const NodeId next = word != kNoWord ? rules.child(node, word) : RuleTable::kNoNode;
    if (next != RuleTable::kNoNode) extend(table, next, at + 1, arity);
  }
  if (static_cast<std::size_t>(gap) == symbols.size()) return;
  if (arity == kMaxArity) throw FormatError(rules.name() + ": damaged rule table: too many nonterminals");
  for (const SpanCells& cells : spans_from_[at]) {
    if (!reaches(table, cells.end)) {
      if (is_lattice_) continue;
      break;
    }
    extend_over(table, first + static_cast<NodeId>(gap), symbols.subspan(gap), at, cells, arity);
  }
}

// Extends a match by every arc from a node of a lattice.
void Matcher::extend_by_arcs(const Table& table, NodeId node, std::uint32_t at, std::uint32_t arity) {
  for (std::uint32_t arc = sentence_->first_arc(at); arc < sentence_->first_arc(at + 1); ++arc) {
    const std::uint32_t end = sentence_->lattice().arcs[arc].end;
    if (table.words[arc] == kNoWord || !reaches(table, end)) continue;
    const NodeId next = table.bound->table->child(node, table.words[arc]);
    if (next == RuleTable::kNoNode) continue;
    path_.push_back(arc);
    extend(table, next, end, arity);
    path_.pop_back();
  }
}

// Extends a match by the constituents over one span. `symbols` are the nonterminals that lead to the nodes
// from `gaps` on.
void Matcher::extend_over(const Table& table, NodeId gaps, std::span<const Symbol> symbols,
                          std::uint32_t begin, const SpanCells& cells, std::uint32_t arity) {
  const auto extend_by = [&](std::size_t child, CellId id) {
    tails_[arity] = id;
    extend(table, gaps + static_cast<NodeId>(child), cells.end, arity + 1);
  };
  if (symbols.size() < cells.last - cells.first) {
    const std::uint64_t at = span(begin, cells.end);
    for (std::size_t child = 0; child < symbols.size(); ++child) {
      const std::uint32_t local = payload(symbols[child]);
      if (local >= table.bound->labels.size())
        throw FormatError(table.bound->table->name() + ": damaged rule table: label");
      const CellId id = find_cell(at, table.bound->labels[local]);
      if (id != kNoCell) extend_by(child, id);
    }
    return;
  }
  for (std::uint32_t c = cells.first; c < cells.last; ++c) {
    // Calls of extend() do not change these cells: the cells that they add begin further left.
    const CellId id = cells_from_[begin][c];
    const LabelId local = table.bound->local_labels[cells_[id].cell.label];
    if (local == kNoLabel) continue;
    const auto child = std::ranges::lower_bound(symbols, nonterminal(local));
    if (child != symbols.end() && *child == nonterminal(local))
      extend_by(static_cast<std::size_t>(child - symbols.begin()), id);
  }
}

void Matcher::emit(const Table& table, NodeId node, std::uint32_t end, std::uint32_t arity) {
  for (const RuleGroup& group : table.bound->table->groups(node)) {
    const LabelId label = table.bound->labels[group.lhs];
    if (model_.is_goal(label)) {
      if (begin_ != 0 && model_.goal_is_anchored()) continue;
    } else if (length_to(end) > table.span_limit) {
      continue;
    }
    if (matches_->applications.size() == kMost) throw Error(kTooMany);
    Application application;
    if (is_lattice_) {
      if (matches_->applications.size() == kMostOfLattice) throw Error(kTooManyPaths);
      application.path = static_cast<std::uint32_t>(matches_->paths.size());
      matches_->paths.push_back(static_cast<std::uint32_t>(path_.size()));
      matches_->paths.insert(matches_->paths.end(), path_.begin(), path_.end());
    }
    application.cell = cell_at(begin_, end, label);
    application.targets = target_set(table, group, arity);
    application.first_tail = static_cast<std::uint32_t>(matches_->tail_cells.size());
    application.arity = arity;
    matches_->tail_cells.insert(matches_->tail_cells.end(), tails_.begin(), tails_.begin() + arity);
    matches_->applications.push_back(application);
  }
}

CellId Matcher::find_cell(std::uint64_t span_of, LabelId label) const {
  const std::size_t mask = cell_index_.size() - 1;
  for (std::size_t at = hash_cell(span_of, label) & mask;; at = (at + 1) & mask) {
    const CellId id = cell_index_[at];
    if (id == kNoCell) return kNoCell;
    const Cell& cell = cells_[id].cell;
    if (cell.label == label && span(cell.begin, cell.end) == span_of) return id;
  }
}

CellId Matcher::cell_at(std::uint32_t begin, std::uint32_t end, LabelId label) {
  const std::uint64_t at_span = span(begin, end);
  const CellId existing = find_cell(at_span, label);
  if (existing != kNoCell) return existing;
  const auto id = static_cast<CellId>(cells_.size());
  cells_.push_back({{begin, end, label}, kNoCell});
  const auto insert = [this](CellId cell) {
    const auto& [cell_begin, cell_end, cell_label, first, last] = cells_[cell].cell;
    const std::size_t mask = cell_index_.size() - 1;
    std::size_t at = hash_cell(span(cell_begin, cell_end), cell_label) & mask;
    while (cell_index_[at] != kNoCell) at = (at + 1) & mask;
    cell_index_[at] = cell;
  };
  if (2 * cells_.size() > cell_index_.size()) {
    cell_index_.assign(2 * cell_index_.size(), kNoCell);
    for (CellId cell = 0; cell < id; ++cell) insert(cell);
  }
  insert(id);
  if (end == end_) {
    cells_from_[begin].push_back(id);
  } else {
    cells_[id].next = std::exchange(pending_until_[end], id);
    last_end_ = std::max(last_end_, end);
  }
  return id;
}

std::uint32_t Matcher::target_set(const Table& table, const RuleGroup& group, std::uint32_t arity) {
  const std::uint64_t key = (std::uint64_t{table.index} << 32) | group.first_rule;
  const auto [it, added] =
      set_index_.try_emplace(key, static_cast<std::uint32_t>(matches_->target_sets.size()));
  if (added) {
    matches_->target_sets.push_back({table.index, arity, group, 0, 0});
  } else {
    const TargetSet& other = matches_->target_sets[it->second];
    if (other.arity != arity || other.group.count != group.count || other.group.lhs != group.lhs) {
      throw FormatError(table.bound->table->name() + ": damaged rule table: source sides share rules");
    }
  }
  return it->second;
}

// Orders cells bottom-up, drops those that the goal does not reach, and groups applications by cell.
void Matcher::finish() {
  order_cells();
  sort_applications();
  const CellId goal = find_cell(span(0, n_), model_.goal());
  matches_->goal = goal == kNoCell ? kNoCell : renumber_[goal];
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    matches_->cells.push_back(cells_[order_[cell]].cell);
    matches_->cells.back().first = firsts_[cell];
    matches_->cells.back().last = firsts_[cell + 1];
  }
  useless_.drop(*matches_);
}

// Sorts the cells, and renumbers those of applications by their place in this order.
void Matcher::order_cells() {
  order_.resize(cells_.size());
  std::iota(order_.begin(), order_.end(), CellId{0});
  std::sort(order_.begin(), order_.end(), [this](CellId a, CellId b) {
    const Cell& x = cells_[a].cell;
    const Cell& y = cells_[b].cell;
    if (x.begin != y.begin) return x.begin > y.begin;
    if (x.end != y.end) return x.end < y.end;
    return ranks_[x.label] < ranks_[y.label];
  });
  renumber_.resize(cells_.size());
  for (CellId i = 0; i < order_.size(); ++i) renumber_[order_[i]] = i;
  for (CellId& tail : matches_->tail_cells) tail = renumber_[tail];
  for (Application& application : matches_->applications) {
    application.cell = renumber_[application.cell];
    for (CellId tail : matches_->tails(application)) {
      if (tail >= application.cell) throw Error("a constituent below itself: the labels are out of order");
    }
  }
}

// Sorts the applications by cell, keeping their order within a cell: a counting sort.
void Matcher::sort_applications() {
  firsts_.assign(cells_.size() + 1, 0);
  for (const Application& application : matches_->applications) ++firsts_[application.cell + 1];
  std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
  nexts_.assign(firsts_.begin(), firsts_.end() - 1);
  sorted_.resize(matches_->applications.size());
  for (const Application& application : matches_->applications)
    sorted_[nexts_[application.cell]++] = application;
  matches_->applications.swap(sorted_);
}

}  // namespace hiero
