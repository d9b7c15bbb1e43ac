#include "hiero/decode/matcher.h"

#include <algorithm>
#include <numeric>

namespace hiero {

void Matcher::run(const Sentence& sentence, std::uint32_t span_limit, Chart& chart) {
  chart.clear();
  chart_ = &chart;
  n_ = chart.length = sentence.size();
  cells_.clear();
  set_index_.clear();
  if (cells_from_.size() < n_) cells_from_.resize(n_);
  tables_.clear();
  for (std::size_t t = 0; t < sentence.table_count(); ++t) {
    const BoundTable& bound = sentence.table(t);
    const std::uint32_t limit = bound.span_limit > 0 ? bound.span_limit : span_limit;
    tables_.push_back(
        {&bound, sentence.words(t).data(), static_cast<std::uint32_t>(t), limit, bound.has_goal_rules});
  }
  // Only spans that some table can reach get a slot: a long sentence costs its length times the limit.
  row_.assign(n_ + 1, 0);
  for (std::uint32_t begin = 0; begin < n_; ++begin) {
    std::uint32_t end = begin;
    for (const Table& table : tables_) end = std::max(end, walk_end(table, begin));
    row_[begin + 1] = row_[begin] + (end - begin) + 1;
  }
  first_of_span_.assign(row_[n_], kNoCell);
  for (std::uint32_t begin = n_; begin-- > 0;) start_at(begin);
  finish();
}

std::uint32_t Matcher::walk_end(const Table& table, std::uint32_t begin) const {
  const bool any_length = table.has_goal_rules && (begin == 0 || !model_.goal_is_anchored());
  return any_length ? n_
                    : static_cast<std::uint32_t>(
                          std::min<std::uint64_t>(n_, std::uint64_t{begin} + table.span_limit));
}

void Matcher::start_at(std::uint32_t begin) {
  begin_ = begin;
  for (Table& table : tables_) {
    table.walk_end = walk_end(table, begin);
    const WordId word = table.words[begin];
    if (word == kNoWord || table.walk_end == begin) continue;
    const NodeId node = table.bound->table->child(RuleTable::kRoot, word);
    if (node != RuleTable::kNoNode) extend(table, node, begin + 1, kNoCell, kNoCell);
  }
  auto& from = cells_from_[begin];
  from.clear();
  const auto last_end = static_cast<std::uint32_t>(begin + (row_[begin + 1] - row_[begin]) - 1);
  for (std::uint32_t end = begin + 1; end <= last_end; ++end) {
    // Unary rules add labels of higher rank to the cell while it is consumed.
    std::int64_t rank = -1;
    for (CellId id; (id = next_by_rank(begin, end, rank)) != kNoCell;) {
      const LabelId label = cells_[id].cell.label;
      rank = model_.rank(label);
      from.push_back(id);
      for (const Table& table : tables_) {
        const LabelId local = table.bound->local_labels[label];
        if (local == kNoLabel || end > table.walk_end) continue;
        const NodeId node = table.bound->table->child(RuleTable::kRoot, nonterminal(local));
        if (node != RuleTable::kNoNode) extend(table, node, end, id, kNoCell);
      }
    }
  }
}

// `node` matches [begin_, at): records its rules and goes on with whatever may follow.
void Matcher::extend(const Table& table, NodeId node, std::uint32_t at, CellId tail0, CellId tail1) {
  emit(table, node, at, tail0, tail1);
  if (at >= table.walk_end) return;
  const RuleTable& rules = *table.bound->table;
  const auto [first, last] = rules.children(node);
  if (first == last) return;
  NodeId gaps = last;  // nonterminal children come last
  while (gaps > first && is_nonterminal(rules.symbol(gaps - 1))) --gaps;
  const WordId word = table.words[at];
  if (word != kNoWord && gaps > first) {
    const NodeId next = rules.child(node, word);
    if (next != RuleTable::kNoNode) extend(table, next, at + 1, tail0, tail1);
  }
  if (gaps == last) return;
  for (CellId id : cells_from_[at]) {
    const Cell cell = cells_[id].cell;
    if (cell.end > table.walk_end) break;
    const LabelId local = table.bound->local_labels[cell.label];
    if (local == kNoLabel) continue;
    const Symbol symbol = nonterminal(local);
    for (NodeId next = gaps; next < last; ++next) {
      if (rules.symbol(next) != symbol) continue;
      extend(table, next, cell.end, tail0 == kNoCell ? id : tail0, tail0 == kNoCell ? kNoCell : id);
      break;
    }
  }
}

void Matcher::emit(const Table& table, NodeId node, std::uint32_t end, CellId tail0, CellId tail1) {
  for (const RuleGroup& group : table.bound->table->groups(node)) {
    const LabelId label = table.bound->labels[group.lhs];
    if (label == model_.goal()) {
      if (begin_ != 0 && model_.goal_is_anchored()) continue;
    } else if (end - begin_ > table.span_limit) {
      continue;
    }
    Application application;
    application.cell = cell_at(begin_, end, label);
    application.tails = {tail0, tail1};
    application.targets = target_set(table, group);
    chart_->applications.push_back(application);
  }
}

CellId Matcher::next_by_rank(std::uint32_t begin, std::uint32_t end, std::int64_t after) const {
  CellId best = kNoCell;
  for (CellId id = first_of_span_[span(begin, end)]; id != kNoCell; id = cells_[id].next) {
    const std::int64_t rank = model_.rank(cells_[id].cell.label);
    if (rank > after && (best == kNoCell || rank < model_.rank(cells_[best].cell.label))) best = id;
  }
  return best;
}

CellId Matcher::cell_at(std::uint32_t begin, std::uint32_t end, LabelId label) {
  CellId& head = first_of_span_[span(begin, end)];
  for (CellId id = head; id != kNoCell; id = cells_[id].next) {
    if (cells_[id].cell.label == label) return id;
  }
  const auto id = static_cast<CellId>(cells_.size());
  cells_.push_back({{begin, end, label}, head});
  head = id;
  return id;
}

std::uint32_t Matcher::target_set(const Table& table, const RuleGroup& group) {
  const std::uint64_t key = (std::uint64_t{table.index} << 32) | group.first_rule;
  const auto [it, added] =
      set_index_.try_emplace(key, static_cast<std::uint32_t>(chart_->target_sets.size()));
  if (added) chart_->target_sets.push_back({table.index, group});
  return it->second;
}

// Orders cells bottom-up, drops what the goal does not reach, and groups applications by cell.
void Matcher::finish() {
  order_.resize(cells_.size());
  std::iota(order_.begin(), order_.end(), CellId{0});
  std::sort(order_.begin(), order_.end(), [this](CellId a, CellId b) {
    const Cell& x = cells_[a].cell;
    const Cell& y = cells_[b].cell;
    if (x.begin != y.begin) return x.begin > y.begin;
    if (x.end != y.end) return x.end < y.end;
    return model_.rank(x.label) < model_.rank(y.label);
  });
  renumber_.resize(cells_.size());
  for (CellId i = 0; i < order_.size(); ++i) renumber_[order_[i]] = i;

  // Counting sort of the applications by new cell number, stable.
  std::vector<std::uint32_t>& first = firsts_;
  first.assign(cells_.size() + 1, 0);
  for (Application& application : chart_->applications) {
    application.cell = renumber_[application.cell];
    for (CellId& tail : application.tails) {
      if (tail != kNoCell) tail = renumber_[tail];
    }
    ++first[application.cell + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  sorted_.resize(chart_->applications.size());
  {
    std::vector<std::uint32_t>& next = nexts_;
    next.assign(first.begin(), first.end() - 1);
    for (const Application& application : chart_->applications)
      sorted_[next[application.cell]++] = application;
  }

  useful_.assign(cells_.size(), 0);
  if (n_ > 0 && row_[1] == n_ + 1) {
    for (CellId id = first_of_span_[span(0, n_)]; id != kNoCell; id = cells_[id].next) {
      if (cells_[id].cell.label == model_.goal()) useful_[renumber_[id]] = 1;
    }
  }
  for (CellId cell = static_cast<CellId>(cells_.size()); cell-- > 0;) {
    if (!useful_[cell]) continue;
    for (std::uint32_t a = first[cell]; a < first[cell + 1]; ++a) {
      for (CellId tail : sorted_[a].tails) {
        if (tail != kNoCell) useful_[tail] = 1;
      }
    }
  }

  chart_->applications.clear();
  for (CellId cell = 0; cell < cells_.size(); ++cell) {
    if (!useful_[cell]) continue;
    renumber_[cell] = static_cast<CellId>(chart_->cells.size());
    Cell kept = cells_[order_[cell]].cell;
    kept.first = static_cast<std::uint32_t>(chart_->applications.size());
    for (std::uint32_t a = first[cell]; a < first[cell + 1]; ++a) {
      Application application = sorted_[a];
      application.cell = renumber_[cell];
      for (CellId& tail : application.tails) {
        if (tail != kNoCell) tail = renumber_[tail];
      }
      chart_->applications.push_back(application);
    }
    kept.last = static_cast<std::uint32_t>(chart_->applications.size());
    chart_->cells.push_back(kept);
  }
  if (!chart_->cells.empty()) chart_->goal = static_cast<CellId>(chart_->cells.size() - 1);
}

}  // namespace hiero
