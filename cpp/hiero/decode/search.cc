#include "hiero/decode/search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr std::uint64_t kPollEvery = 4096;  // hypotheses of a cell between two looks whether to go on
constexpr std::uint32_t kEmptySlot = ~std::uint32_t{0};
constexpr double kWorst = -std::numeric_limits<double>::infinity();

std::uint64_t hash_states(const ChartState* states, std::size_t lms) {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < lms; ++k) {
    const ChartState& state = states[k];
    hash = hash * 0x9E3779B97F4A7C15ull + (state.left.length * 2u + state.left.full);
    if (state.left.length > 0)
      hash = (hash ^ state.left.pointers[state.left.length - 1]) * 0xBF58476D1CE4E5B9ull;
    for (unsigned i = 0; i < state.right.length; ++i)
      hash = (hash ^ state.right.words[i]) * 0x94D049BB133111EBull;
    hash ^= hash >> 29;
  }
  return hash;
}

bool same_states(const ChartState* a, const ChartState* b, std::size_t lms) {
  for (std::size_t k = 0; k < lms; ++k) {
    // KenLM's equality takes an empty string and one of unknown words for the same left state.
    if (!(a[k] == b[k]) || a[k].left.full != b[k].left.full) return false;
  }
  return true;
}

}  // namespace

Search::Search(const TranslationModel& model, Arena& arena)
    : model_(model), arena_(arena), lms_(model.lms().size()), vertices_(lms_, arena), blank_states_(lms_) {
  for (ChartState& state : blank_states_) {
    state.left.length = 0;
    state.left.full = false;
    state.right.length = 0;
  }
  blank_.states = blank_states_.data();
}

const SearchSpace& Search::run(const Matches& matches, SentenceTargets& targets, const CoarsePass& coarse,
                               const Weights& weights, const DecoderOptions& options, Keep keep) {
  matches_ = &matches;
  targets_ = &targets;
  budget_.start(matches, targets, coarse, options);
  weights_ = &weights;
  options_ = &options;
  keep_ = keep;
  space_.clear(matches.cells.size());
  free_.fill(nullptr);
  roots_.assign(matches.cells.size(), nullptr);
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    poll_interrupts();
    search_cell(id);
  }
  finish_goal();
  return space_;
}

void Search::search_cell(CellId id) {
  queue_.clear();
  waiting_.clear();
  best_in_cell_ = kWorst;
  least_in_cell_ = kWorst;
  first_item_ = static_cast<std::uint32_t>(space_.items.size());
  first_edge_ = space_.edges.size();
  slots_.assign(256, kEmptySlot);
  const Cell& cell = matches_->cells[id];
  for (std::uint32_t a = cell.first; a < cell.last; ++a) push_application(a, 0);

  const std::uint64_t limit = budget_.limit(id);
  std::uint64_t popped = 0;
  while (!queue_.empty() && popped < limit) {
    if (queue_.best() < least_in_cell_) break;
    Waiting& slot = waiting_[queue_.pop()];
    const Waiting next = std::exchange(slot, {});
    Partial* partial = next.partial;
    if (!partial) {
      push_application(next.application, next.position + 1);
      partial = open(next);
    }
    if (popped % kPollEvery == kPollEvery - 1) poll_interrupts();
    if (!expand(partial)) continue;
    accept(id, partial);
    ++popped;
    least_in_cell_ = best_in_cell_ - options_->beam_threshold;
  }
  space_.hypotheses += popped;
  budget_.spent(id, popped);
  finish_cell(id);
  if (keep_ == Keep::kSplits) complete_splits(id);
  // What is still queued makes room for the next cell while it is warm in the cache.
  for (const Waiting& left : waiting_) {
    if (left.partial) release(left.partial);
  }
}

// Queues the application with its `position`th best target.
void Search::push_application(std::uint32_t a, std::uint32_t position) {
  if (position >= targets_->count(a)) return;
  double score = targets_->target(a, position).score + targets_->offset(a);
  for (CellId tail : matches_->tails(matches_->applications[a])) {
    if (!roots_[tail]) return;
    score += roots_[tail]->bound;
  }
  push(score, {nullptr, a, position});
}

Search::Partial* Search::open(const Waiting& waiting) {
  const Application& application = matches_->applications[waiting.application];
  const Target& target = targets_->target(waiting.application, waiting.position);
  const TargetSide& side = targets_->side(application, target.slot);
  const std::span<const CellId> tails = matches_->tails(application);
  Partial* partial = allocate(side.arity, side.arity);
  partial->side = &side;
  partial->application = waiting.application;
  partial->slot = target.slot;
  partial->incomplete = side.arity;
  partial->score = target.score + targets_->offset(waiting.application) + side.bos_change;
  Position* const at = positions(partial);
  for (std::uint32_t i = 0; i < side.arity; ++i) {
    partial->score += roots_[tails[i]]->bound;
    at[i] = {roots_[tails[side.order[i]]], 0};
  }
  std::copy_n(side.chunks, (side.arity + 1u) * lms_, states(partial));
  // Cells of a single item have nothing to split.
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < side.arity; ++i) {
    if (at[i].complete()) {
      partial->score += reveal(partial, before, blank_, *at[i].node);
    } else {
      ++before;
    }
  }
  return partial;
}

Search::Partial* Search::allocate(std::uint32_t arity, std::uint32_t incomplete) {
  Partial*& head = free_list(arity, incomplete);
  Partial* partial = head;
  if (partial) {
    head = partial->next_free;
  } else {
    const std::size_t bytes =
        sizeof(Partial) + arity * sizeof(Position) + (incomplete + 1u) * lms_ * sizeof(ChartState);
    partial = reinterpret_cast<Partial*>(
        arena_.array<std::max_align_t>((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)));
  }
  partial->size_class = incomplete;
  return partial;
}

void Search::release(Partial* partial) {
  Partial*& head = free_list(partial->side->arity, partial->size_class);
  partial->next_free = head;
  head = partial;
}

// Reveals boundary words until the hypothesis is complete (true) or no longer the best (false: queued).
bool Search::expand(Partial* partial) {
  for (;;) {
    if (!queue_.empty() && static_cast<float>(partial->score) < queue_.best()) {
      push(partial->score, {partial, 0, 0});
      return false;
    }
    if (partial->incomplete == 0) return true;
    // The nonterminal of which least is known.
    Position* const at = positions(partial);
    std::uint32_t victim = 0;
    std::uint32_t victim_before = 0;
    std::uint32_t least = ~std::uint32_t{0};
    for (std::uint32_t i = 0, before = 0; i < partial->side->arity; ++i) {
      if (at[i].complete()) continue;
      const std::uint32_t known = at[i].node->depth;
      if (known < least) {
        least = known;
        victim = i;
        victim_before = before;
      }
      ++before;
    }
    const Position old = at[victim];
    if (!old.node->children) vertices_.split(space_.items, *old.node);
    if (old.index + 1 < old.node->child_count) {
      const Position rest{old.node, old.index + 1};
      const double score = partial->score + rest.bound() - old.bound();
      push(score, {copy(partial, victim, rest, score), 0, 0});
    }
    at[victim] = {&old.node->children[old.index], 0};
    partial->score += reveal(partial, victim_before, *old.node, *at[victim].node);
  }
}

Search::Partial* Search::copy(Partial* partial, std::uint32_t victim, Position position, double score) {
  const std::uint32_t arity = partial->side->arity;
  Partial* out = allocate(arity, partial->incomplete);
  const std::uint32_t size_class = out->size_class;
  *out = *partial;
  out->size_class = size_class;
  out->score = score;
  std::copy_n(positions(partial), arity, positions(out));
  positions(out)[victim] = position;
  std::copy_n(states(partial), (partial->incomplete + 1u) * lms_, states(out));
  return out;
}

// What it changes that a nonterminal's boundary words, `known` so far, are now as in `node`. The states
// around the nonterminal are numbers `before` and `before` + 1; they merge once it is a leaf.
double Search::reveal(Partial* partial, std::uint32_t before, const VertexNode& known,
                      const VertexNode& node) {
  double change = 0;
  ChartState* const left = states(partial) + before * lms_;
  ChartState* const right = left + lms_;
  for (std::size_t k = 0; k < lms_; ++k) {
    const LanguageModel& lm = *model_.lms()[k];
    const ChartState& was = known.states[k];
    const ChartState& now = node.states[k];
    const bool was_full = known.right_full >> k & 1;
    const bool now_full = node.right_full >> k & 1;
    double sum = 0;
    if (now.left.length > was.left.length || (now.left.full && !was.left.full)) {
      sum += lm.reveal_left(left[k], now.left, was.left.length, space_.lm_queries);
    }
    if (now.right.length > was.right.length || (now_full && !was_full)) {
      sum += lm.reveal_right(now.right, was.right.length, now_full, right[k], space_.lm_queries);
    }
    if (node.is_leaf()) sum += lm.join(left[k], now, right[k], space_.lm_queries);
    change += weights_->lm[k] * sum;
  }
  if (node.is_leaf()) {
    for (std::uint32_t i = before + 1; i < partial->incomplete; ++i) {
      std::copy_n(states(partial) + (i + 1) * lms_, lms_, states(partial) + i * lms_);
    }
    --partial->incomplete;
  }
  return change;
}

void Search::push(double score, const Waiting& waiting) {
  queue_.push(score, static_cast<std::uint32_t>(waiting_.size()));
  waiting_.push_back(waiting);
}

void Search::accept(CellId cell, Partial* partial) {
  bool added = false;
  Item& item = space_.items[find_or_add(cell, states(partial), added)];
  const bool better = added || partial->score > item.score;
  if (better) item.score = partial->score;
  const bool keep_all = keep_ != Keep::kNone;
  if (better || keep_all) add_edge(item, partial, keep_all ? item.edge : kNoEdge);
  best_in_cell_ = std::max(best_in_cell_, partial->score);
  release(partial);
}

// Makes a complete hypothesis an edge into the item, which then begins its list of edges; `next` is the rest.
void Search::add_edge(Item& item, Partial* partial, std::uint32_t next) {
  item.edge = static_cast<std::uint32_t>(space_.edges.size());
  space_.edges.push_back({partial->score, partial->application, partial->slot, add_tails(partial), next});
}

// The items that a complete hypothesis is made of, in source order; returns their place in space_.edge_tails.
std::uint32_t Search::add_tails(Partial* partial) {
  const std::size_t first = space_.edge_tails.size();
  const TargetSide& side = *partial->side;
  space_.edge_tails.resize(first + side.arity);
  for (std::uint32_t i = 0; i < side.arity; ++i)
    space_.edge_tails[first + side.order[i]] = positions(partial)[i].node->items[0];
  return static_cast<std::uint32_t>(first);
}

// The item of this cell with these LM states, made if there is none.
ItemId Search::find_or_add(CellId cell, const ChartState* states, bool& added) {
  const std::size_t count = space_.items.size() - first_item_;
  if (2 * (count + 1) > slots_.size()) {
    slots_.assign(slots_.size() * 2, kEmptySlot);
    for (ItemId id = first_item_; id < space_.items.size(); ++id) *find_slot(space_.items[id].states) = id;
  }
  std::uint32_t* slot = find_slot(states);
  added = *slot == kEmptySlot;
  if (added) *slot = add_item(cell, states);
  return *slot;
}

ItemId Search::add_item(CellId cell, const ChartState* states) {
  ChartState* kept = arena_.array<ChartState>(lms_);
  std::copy_n(states, lms_, kept);
  space_.items.push_back({kWorst, kept, kNoEdge});
  space_.item_cells.push_back(cell);
  return static_cast<ItemId>(space_.items.size() - 1);
}

std::uint32_t* Search::find_slot(const ChartState* states) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash_states(states, lms_) & mask;; at = (at + 1) & mask) {
    if (slots_[at] == kEmptySlot || same_states(space_.items[slots_[at]].states, states, lms_))
      return &slots_[at];
  }
}

// Sorts the cell's items, prunes them and makes them available to larger spans.
void Search::finish_cell(CellId id) {
  const auto count = static_cast<std::uint32_t>(space_.items.size() - first_item_);
  if (count == 0) return;
  ItemId* sorted = arena_.array<ItemId>(count);
  for (std::uint32_t i = 0; i < count; ++i) sorted[i] = first_item_ + i;
  std::sort(sorted, sorted + count, [this](ItemId a, ItemId b) {
    return space_.items[a].score != space_.items[b].score ? space_.items[a].score > space_.items[b].score
                                                          : a < b;
  });
  std::uint32_t kept = count;
  if (options_->beam_size > 0) kept = std::min(kept, options_->beam_size);
  while (kept > 1 && space_.items[sorted[kept - 1]].score < least_in_cell_) --kept;
  space_.survivors[id] = {sorted, kept};
  roots_[id] = vertices_.root(space_.items, space_.survivors[id]);
}

// How far into its span the first nonterminal of an application reaches; 0 for none, and for unary rules,
// whose split point is that of what they are over.
std::uint32_t Search::split_of(std::uint32_t application) const {
  const Application& a = matches_->applications[application];
  if (a.arity == 0) return 0;
  const Cell& cell = matches_->cells[a.cell];
  const Cell& first = matches_->cells[matches_->tails(a)[0]];
  return first.end - first.begin == cell.end - cell.begin ? 0 : first.end - cell.begin;
}

// Takes what waits as search does, but for hypotheses whose split points have one that is complete.
void Search::complete_splits(CellId id) {
  const Cell& cell = matches_->cells[id];
  wanted_.assign(cell.end - cell.begin + 1, 0);
  for (std::uint32_t a = cell.first; a < cell.last; ++a) wanted_[split_of(a)] = 1;
  for (std::size_t e = first_edge_; e < space_.edges.size(); ++e)
    wanted_[split_of(space_.edges[e].application)] = 0;
  wanted_[0] = 0;
  auto left = std::ranges::count(wanted_, 1);
  while (left > 0 && !queue_.empty()) {
    const Waiting next = std::exchange(waiting_[queue_.pop()], {});
    Partial* partial = next.partial;
    const std::uint32_t split = split_of(partial ? partial->application : next.application);
    if (!wanted_[split]) {
      if (partial) release(partial);
      continue;
    }
    if (!partial) {
      push_application(next.application, next.position + 1);
      partial = open(next);
    }
    if (!expand(partial)) continue;
    const ItemId item = add_item(id, states(partial));
    space_.items[item].score = partial->score;
    add_edge(space_.items[item], partial, kNoEdge);
    space_.completed.push_back(item);
    release(partial);
    wanted_[split] = 0;
    --left;
  }
}

// Scores the items of the goal cell as whole sentences.
void Search::finish_goal() {
  if (matches_->goal == kNoCell) return;
  for (const ItemId id : space_.survivors[matches_->goal]) {
    const Item& item = space_.items[id];
    double* const lms = arena_.array<double>(lms_);
    double score = item.score;
    for (std::size_t k = 0; k < lms_; ++k) {
      lms[k] = model_.lms()[k]->score_goal(item.states[k], model_.goal_has_bos(), space_.lm_queries);
      score += weights_->lm[k] * lms[k];
    }
    space_.goals.push_back({score, id, lms});
  }
  std::ranges::sort(space_.goals, [](const Goal& a, const Goal& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  });
}

}  // namespace hiero
