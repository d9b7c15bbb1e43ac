#include "hiero/decode/cell_items.h"

#include <algorithm>
#include <limits>

namespace hiero {
namespace {

constexpr std::size_t kFirstItemSlots = 256;
constexpr ItemId kEmptySlot = ~ItemId{0};
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

void CellItems::start(CellId cell) {
  cell_ = cell;
  best_score_ = kWorst;
  threshold_ = kWorst;
  first_item_ = static_cast<ItemId>(space_.items.size());
  first_edge_ = space_.edges.size();
  slots_.assign(kFirstItemSlots, kEmptySlot);
}

void CellItems::add(const SearchContext& context, const PartialHypothesis& hypothesis) {
  Item& item = space_.items[find_or_add(hypothesis.states())];
  const bool is_best = item.edge == kNoEdge || hypothesis.score > item.score;
  if (is_best) item.score = hypothesis.score;
  const bool keep_all = context.keep != Keep::kNone;
  if (is_best || keep_all) add_edge(item, hypothesis, keep_all ? item.edge : kNoEdge);
  best_score_ = std::max(best_score_, hypothesis.score);
  threshold_ = best_score_ - context.options.beam_threshold;
}

ItemId CellItems::add_apart(const PartialHypothesis& hypothesis) {
  const ItemId id = add_item(hypothesis.states());
  space_.items[id].score = hypothesis.score;
  add_edge(space_.items[id], hypothesis, kNoEdge);
  return id;
}

std::span<const ItemId> CellItems::finish(const DecoderOptions& options) {
  const auto count = static_cast<std::uint32_t>(space_.items.size() - first_item_);
  if (count == 0) return {};
  ItemId* sorted = arena_.array<ItemId>(count);
  for (std::uint32_t i = 0; i < count; ++i) sorted[i] = first_item_ + i;
  std::sort(sorted, sorted + count, [this](ItemId a, ItemId b) {
    return space_.items[a].score != space_.items[b].score ? space_.items[a].score > space_.items[b].score
                                                          : a < b;
  });
  std::uint32_t survivors = count;
  if (options.beam_size > 0) survivors = std::min(survivors, options.beam_size);
  while (survivors > 1 && space_.items[sorted[survivors - 1]].score < threshold_) --survivors;
  return {sorted, survivors};
}

// Returns the item with these states, and makes it if there is none.
ItemId CellItems::find_or_add(const ChartState* states) {
  const std::size_t count = space_.items.size() - first_item_;
  if (2 * (count + 1) > slots_.size()) {
    slots_.assign(slots_.size() * 2, kEmptySlot);
    for (ItemId id = first_item_; id < space_.items.size(); ++id) *find_slot(space_.items[id].states) = id;
  }
  ItemId* slot = find_slot(states);
  if (*slot == kEmptySlot) *slot = add_item(states);
  return *slot;
}

ItemId CellItems::add_item(const ChartState* states) {
  ChartState* copy = arena_.array<ChartState>(lms_);
  std::copy_n(states, lms_, copy);
  space_.items.push_back({kWorst, copy, kNoEdge});
  space_.item_cells.push_back(cell_);
  return static_cast<ItemId>(space_.items.size() - 1);
}

ItemId* CellItems::find_slot(const ChartState* states) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash_states(states, lms_) & mask;; at = (at + 1) & mask) {
    if (slots_[at] == kEmptySlot || same_states(space_.items[slots_[at]].states, states, lms_))
      return &slots_[at];
  }
}

// Makes a complete hypothesis the first edge of the item's list; `next` is the rest of the list.
void CellItems::add_edge(Item& item, const PartialHypothesis& hypothesis, std::uint32_t next) {
  item.edge = static_cast<std::uint32_t>(space_.edges.size());
  space_.edges.push_back(
      {hypothesis.score, hypothesis.application, hypothesis.slot, add_tails(hypothesis), next});
}

// Adds the antecedent items in source order, and returns where they begin in SearchSpace::edge_tails.
std::uint32_t CellItems::add_tails(const PartialHypothesis& hypothesis) {
  const std::size_t first = space_.edge_tails.size();
  const TargetSide& side = *hypothesis.side;
  space_.edge_tails.resize(first + side.arity);
  for (std::uint32_t i = 0; i < side.arity; ++i)
    space_.edge_tails[first + side.order[i]] = hypothesis.vertices()[i].node->items[0];
  return static_cast<std::uint32_t>(first);
}

}  // namespace hiero
