#include "hiero/decode/chain_search.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr double kNoChain = -std::numeric_limits<double>::infinity();
constexpr std::uint64_t kPollChains = 4096;  // between two polls for interrupts, about

}  // namespace

ChainSearch::ChainSearch(const SearchContext& context, Relaxation& relaxation, std::span<const CellId> order,
                         double floor)
    : context_(context),
      relaxation_(relaxation),
      order_(order),
      floor_(floor),
      groups_(order.size()),
      by_ends_(order.size()),
      rest_(kMaxArity + 1),
      behind_(kMaxArity),
      chosen_(kMaxArity) {}

bool ChainSearch::run(std::uint64_t limit) {
  limit_ = limit;
  for (const CellId cell : order_) {
    if (!search_cell(cell)) return false;
  }
  pass_outside();
  return true;
}

double ChainSearch::outside(CellId cell, const Ends& ends) const {
  const auto found = by_ends_[cell].find(ends.key());
  return found == by_ends_[cell].end() ? kNoChain : items_[found->second].outside;
}

double ChainSearch::score_junction(const Ends& first, const Ends& second) const {
  if (first.is_empty || second.is_empty || second.is_first) return 0;
  return relaxation_.junctions().pair(first.end, second.start);
}

bool ChainSearch::search_cell(CellId id) {
  if (relaxation_.outside(id) == kNoChain) return true;
  cell_ = id;
  ids_.clear();
  const Cell& cell = context_.matches.cells[id];
  for (std::uint32_t a = cell.first; a < cell.last; ++a) {
    poll_interrupts();
    cells_ = context_.matches.tails(context_.matches.applications[a]);
    if (std::ranges::any_of(cells_, [this](CellId tail) { return groups_[tail].empty(); })) continue;
    for (const Choice& choice : relaxation_.choices(a)) {
      apply(choice);
      if (hypotheses_ > limit_) return false;
    }
  }
  finish_cell();
  return true;
}

void ChainSearch::apply(const Choice& choice) {
  choice_ = &choice;
  side_ = &relaxation_.side(choice);
  const auto score_chunk = [&](std::uint32_t chunk) {
    const Run* const run = relaxation_.run(choice, chunk);
    return run ? relaxation_.score(*run) : 0.0;
  };
  rest_[side_->arity] = relaxation_.outside(cell_);
  for (std::uint32_t i = side_->arity; i-- > 0;) {
    behind_[i] = rest_[i + 1] + score_chunk(i + 1);
    const Group& best = groups_[cells_[side_->order[i]]][0];
    rest_[i] = behind_[i] + best.before + best.best;
  }
  Chain first{choice.score, 0, 0, {}};
  if (const Run* const run = relaxation_.run(choice, 0)) {
    first.ends = {run->start, run->end, false, run->is_first};
    first.after = relaxation_.potential(run->end);
    first.before = relaxation_.score(*run) - first.after;
  }
  if (!(first.optimistic() + rest_[0] > floor_)) return;
  if (side_->arity == 0) ++hypotheses_;
  join(0, first);
}

// Joins the rest of the choice's nonterminals in all ways that may score above the floor.
void ChainSearch::join(std::uint32_t joined, const Chain& prefix) {
  if (joined == side_->arity) {
    add(prefix);
    return;
  }
  for (const Group& group : groups_[cells_[side_->order[joined]]]) {
    if (!(prefix.optimistic() + group.before + group.best + behind_[joined] > floor_)) return;
    if (++hypotheses_ > limit_) return;
    join(joined, prefix, group);
  }
}

// Joins the items of one group to a prefix.
void ChainSearch::join(std::uint32_t joined, const Chain& prefix, const Group& group) {
  const std::uint32_t source = side_->order[joined];
  const Run* const run = relaxation_.run(*choice_, joined + 1);
  const double junction = score_junction(prefix.ends, group.ends);
  double others = prefix.score + junction + behind_[joined];
  others += prefix.ends.is_empty ? group.before : prefix.before;
  for (const ChainItemId id : group.ids) {
    const Chain& next = items_[id].chain;
    const double after = next.ends.is_empty ? prefix.after : next.after;
    if (!(others + next.score + after > floor_)) return;
    if (++hypotheses_ > limit_) return;
    if (hypotheses_ % kPollChains == 0) {
      poll_interrupts();
      if (context_.is_late()) limit_ = 0;
    }
    Chain longer = append(prefix, next, junction);
    if (run) {
      const double run_after = relaxation_.potential(run->end);
      const Chain words{
          0, relaxation_.score(*run) - run_after, run_after, {run->start, run->end, false, false}};
      longer = append(longer, words, score_junction(longer.ends, words.ends));
    }
    if (!(longer.optimistic() + rest_[joined + 1] > floor_)) continue;
    chosen_[source] = id;
    join(joined + 1, longer);
  }
}

ChainSearch::Chain ChainSearch::append(const Chain& first, const Chain& second, double junction) const {
  const double score = first.score + second.score + junction;
  if (second.ends.is_empty) return {score, first.before, first.after, first.ends};
  if (first.ends.is_empty) return {score, second.before, second.after, second.ends};
  const Ends ends{first.ends.start, second.ends.end, false, first.ends.is_first};
  return {score, first.before, second.after, ends};
}

void ChainSearch::add(const Chain& chain) {
  const auto [it, added] =
      by_ends_[cell_].try_emplace(chain.ends.key(), static_cast<ChainItemId>(items_.size()));
  if (added) {
    items_.push_back({chain});
    ids_.push_back(it->second);
  }
  double& best = items_[it->second].chain.score;
  best = std::max(best, chain.score);
  edges_.push_back({chain.score, it->second, static_cast<std::uint32_t>(tails_.size()), choice_});
  tails_.insert(tails_.end(), chosen_.begin(), chosen_.begin() + side_->arity);
}

void ChainSearch::finish_cell() {
  const double rest = relaxation_.outside(cell_);
  std::erase_if(ids_, [&](ChainItemId id) { return !(items_[id].chain.optimistic() + rest > floor_); });
  std::ranges::sort(ids_, [this](ChainItemId a, ChainItemId b) {
    const double x = items_[a].chain.with_after();
    const double y = items_[b].chain.with_after();
    return x != y ? x > y : a < b;
  });
  std::vector<Group>& groups = groups_[cell_];
  std::unordered_map<std::uint64_t, std::size_t> by_start;
  for (const ChainItemId id : ids_) {
    const Chain& chain = items_[id].chain;
    Ends start = chain.ends;
    start.end = 0;
    const auto [it, added] = by_start.try_emplace(start.key(), groups.size());
    if (added) groups.push_back({chain.ends, chain.before, chain.with_after(), {}});
    groups[it->second].ids.push_back(id);
  }
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    const double x = a.before + a.best;
    const double y = b.before + b.best;
    return x != y ? x > y : a.ids[0] < b.ids[0];
  });
}

// Returns what <s> and </s> add to a whole translation.
double ChainSearch::score_goal(Ends ends) const {
  double score = relaxation_.goal_words();
  if (const Ends opening = relaxation_.opening(); !opening.is_empty) {
    score += score_junction(opening, ends);
    ends = {opening.start, ends.is_empty ? opening.end : ends.end, false, true};
  }
  return score + score_junction(ends, relaxation_.goal());
}

void ChainSearch::pass_outside() {
  for (const Group& group : groups_[context_.matches.goal]) {
    for (const ChainItemId id : group.ids) {
      ChainItem& item = items_[id];
      item.outside = score_goal(item.chain.ends);
      bound_ = std::max(bound_, item.chain.score + item.outside);
    }
  }
  for (const ChainEdge& edge : std::views::reverse(edges_)) {
    const double through = edge.score + items_[edge.head].outside;
    if (!(through > floor_)) continue;
    const std::uint32_t arity = relaxation_.side(*edge.choice).arity;
    for (const ChainItemId tail : std::span(tails_).subspan(edge.first_tail, arity)) {
      ChainItem& item = items_[tail];
      item.outside = std::max(item.outside, through - item.chain.score);
    }
  }
}

void ChainSearch::drop_choices() {
  std::unordered_set<const Choice*> used;
  for (const ChainEdge& edge : edges_) {
    if (edge.score + items_[edge.head].outside > floor_) used.insert(edge.choice);
  }
  relaxation_.keep_only(used);
}

}  // namespace hiero
