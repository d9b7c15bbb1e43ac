#include "hiero/decode/exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();
// Scores that differ by less than this share of them, or of 10, differ by the rounding of sums.
constexpr double kRounding = 1e-6;
constexpr std::uint64_t kPollHypotheses = 4096;  // between two polls for interrupts
// The scores down to which chains are searched, as shares of what is between the score to beat and the bound:
// where the limit does not suffice for all, the last for which it does gives a better bound.
constexpr std::array kShares{0.75, 0.5, 0.25, 0.0};

double rounding_of(double score) { return kRounding * std::max(10.0, std::abs(score)); }

// Returns the cells bottom-up, those of shorter spans first.
std::vector<CellId> by_length(const std::vector<Cell>& cells) {
  std::vector<CellId> order(cells.size());
  std::iota(order.begin(), order.end(), CellId{0});
  std::ranges::stable_sort(order, {}, [&](CellId id) { return cells[id].end - cells[id].begin; });
  return order;
}

// Equal keys mean equal states.
void append_states(std::string& key, const ChartState* states, std::size_t lms) {
  const auto append = [&key](const auto* values, std::size_t count) {
    key.append(reinterpret_cast<const char*>(values), count * sizeof *values);
  };
  for (const ChartState& state : std::span(states, lms)) {
    key += static_cast<char>(2 * state.left.length + state.left.full);
    key += static_cast<char>(state.right.length);
    if (state.left.length > 0) append(state.left.pointers + state.left.length - 1, 1);
    append(state.right.words, state.right.length);
  }
}

}  // namespace

ExactSearch::ExactSearch(const SearchContext& context, double score)
    : context_(context),
      lms_(context.model.lms().size()),
      floor_(score + rounding_of(score)),
      best_(score),
      relaxation_(context, floor_),
      order_(by_length(context.matches.cells)),
      nodes_(context.matches.cells.size()),
      rest_(kMaxArity + 1),
      behind_(kMaxArity),
      states_((kMaxArity + 1) * lms_),
      items_(kMaxArity) {
  space_.clear(context.matches.cells.size());
}

void ExactSearch::run(std::uint64_t limit) {
  left_ = limit;
  relaxation_.tighten();
  if (relaxation_.is_sound()) {
    const double bound = search_chains();
    if (bound > floor_ && !stopped_) search();
    if (relaxation_.is_sound()) gap_ = stopped_ && bound > floor_ ? bound - best_ : 0;
    space_.hypotheses = limit - left_;
  }
  space_.lm_queries += relaxation_.lm_queries();
}

// Searches chains of runs down to the floor, as far as the limit goes. Returns a bound on all derivations.
double ExactSearch::search_chains() {
  const double most = relaxation_.bound();
  double bound = most;
  for (const double share : kShares) {
    const double floor = floor_ + share * (most - floor_);
    if (!(bound > floor)) continue;
    chains_.emplace(context_, relaxation_, order_, floor);
    stopped_ = !chains_->run(left_);
    left_ -= std::min(left_, chains_->hypotheses());
    if (stopped_) return bound;
    bound = std::min(bound, std::max(floor, chains_->bound()));
  }
  if (bound > floor_) chains_->drop_choices();
  return bound;
}

void ExactSearch::search() {
  for (const CellId id : order_) {
    cell_ = id;
    search_cell();
    if (stopped_) return;
  }
  score_goals();
}

void ExactSearch::search_cell() {
  by_states_.clear();
  if (relaxation_.outside(cell_) == kNowhere) return;
  const Cell& cell = context_.matches.cells[cell_];
  for (application_ = cell.first; application_ < cell.last; ++application_) {
    poll_interrupts();
    tails_ = context_.matches.tails(context_.matches.applications[application_]);
    if (std::ranges::any_of(tails_, [this](CellId tail) { return nodes_[tail].empty(); })) continue;
    for (const Choice& choice : relaxation_.choices(application_)) {
      apply(choice);
      if (stopped_) return;
    }
  }
  finish_cell();
}

void ExactSearch::apply(const Choice& choice) {
  choice_ = &choice;
  side_ = &relaxation_.side(choice);
  bound_rest();
  const Piece first = first_piece(choice);
  if (!(bound_whole(first, 0) > floor_)) return;
  if (side_->arity > 0) {
    join(0, first);
  } else if (left_ == 0) {
    stopped_ = true;
  } else {
    --left_;
    add(first);
  }
}

void ExactSearch::bound_rest() {
  rest_[side_->arity] = relaxation_.outside(cell_);
  for (std::uint32_t i = side_->arity; i-- > 0;) {
    behind_[i] = rest_[i + 1] + score_run(i + 1);
    rest_[i] = behind_[i] + nodes_[tails_[side_->order[i]]][0].piece.optimistic();
  }
}

double ExactSearch::score_run(std::uint32_t chunk) const {
  const Run* const run = relaxation_.run(*choice_, chunk);
  return run ? relaxation_.score(*run) : 0;
}

// Returns the words before the first nonterminal, with the score of the rule.
ExactSearch::Piece ExactSearch::first_piece(const Choice& choice) const {
  Piece piece{choice.score, 0, 0, 0, {}, side_->chunks};
  if (const Run* const run = relaxation_.run(choice, 0)) {
    piece.ends = {run->start, run->end, false, run->is_first};
    piece.after = relaxation_.potential(run->end);
    piece.before = relaxation_.score(*run) - piece.after;
  }
  return piece;
}

// Joins the rest of the choice's nonterminals in all ways that may score above the floor.
void ExactSearch::join(std::uint32_t joined, const Piece& prefix) {
  if (joined == side_->arity) {
    add(prefix);
    return;
  }
  const std::uint32_t source = side_->order[joined];
  for (const Node& node : nodes_[tails_[source]]) {
    if (!(prefix.optimistic() + node.piece.optimistic() + behind_[joined] > floor_)) return;
    if (left_ == 0) stopped_ = true;
    if (stopped_) return;
    if (--left_ % kPollHypotheses == 0) {
      poll_interrupts();
      stopped_ = context_.is_late();
    }
    Piece longer = sketch(prefix, node.piece, joined);
    if (!(bound_whole(longer, joined + 1) > floor_)) continue;
    score_joined(longer, prefix, node.piece, joined);
    if (!(bound_whole(longer, joined + 1) > floor_)) continue;
    items_[source] = node.item;
    join(joined + 1, longer);
  }
}

// Bounds the derivations with a piece at the beginning of the choice, which has so many nonterminals joined.
double ExactSearch::bound_whole(const Piece& piece, std::uint32_t joined) const {
  if (joined < side_->arity) return piece.optimistic() + rest_[joined];
  return piece.bound() + chains_->outside(cell_, piece.ends);
}

// Returns a prefix with one more antecedent and the words of the rule behind it, with a bound for its score.
ExactSearch::Piece ExactSearch::sketch(const Piece& prefix, const Piece& next, std::uint32_t joined) const {
  Piece piece = prefix.ends.is_empty ? next : prefix;
  piece.score = prefix.bound() + next.bound() + chains_->score_junction(prefix.ends, next.ends);
  piece.excess = 0;
  if (!next.ends.is_empty) {
    piece.ends.end = next.ends.end;
    piece.after = next.after;
  }
  if (const Run* const run = relaxation_.run(*choice_, joined + 1)) {
    const Ends ends{run->start, run->end, false, false};
    const double after = relaxation_.potential(run->end);
    if (piece.ends.is_empty) {
      piece.ends.start = run->start;
      piece.before = relaxation_.score(*run) - after;
    }
    piece.score += chains_->score_junction(piece.ends, ends);
    piece.ends.is_empty = false;
    piece.ends.end = run->end;
    piece.after = after;
  }
  return piece;
}

// Gives the piece that sketch() returned its states and its score.
void ExactSearch::score_joined(Piece& piece, const Piece& prefix, const Piece& next, std::uint32_t joined) {
  constexpr std::array<Symbol, 3> kAll{nonterminal(0), nonterminal(1), nonterminal(2)};
  ChartState* const states = states_.data() + joined * lms_;
  const ChartState* const chunk = side_->chunks + (joined + 1) * lms_;
  piece.states = states;
  piece.score = prefix.score + next.score;
  for (std::size_t k = 0; k < lms_; ++k) {
    const ChartState* const tails[] = {prefix.states + k, next.states + k, chunk + k};
    piece.score += context_.weights.lm[k] *
                   context_.model.lms()[k]->score_rule(kAll, tails, false, states[k], space_.lm_queries);
  }
  if (!piece.ends.is_empty && !piece.ends.is_first)
    piece.excess = relaxation_.junctions().excess(piece.ends.start, states);
}

// Recombines a complete hypothesis with those of the same states.
void ExactSearch::add(const Piece& piece) {
  std::vector<Node>& nodes = nodes_[cell_];
  key_.clear();
  append_states(key_, piece.states, lms_);
  const auto [it, added] = by_states_.try_emplace(key_, nodes.size());
  if (added) {
    ChartState* const states = context_.arena.array<ChartState>(lms_);
    std::copy_n(piece.states, lms_, states);
    nodes.push_back({piece, static_cast<ItemId>(space_.items.size())});
    nodes.back().piece.states = states;
    space_.items.push_back({kNowhere, states, kNoEdge});
    space_.item_cells.push_back(cell_);
  }
  Node& node = nodes[it->second];
  Item& item = space_.items[node.item];
  if (!(piece.score > item.score)) return;
  const ChartState* const states = node.piece.states;
  node.piece = piece;
  node.piece.states = states;
  item.score = piece.score;
  item.edge = static_cast<std::uint32_t>(space_.edges.size());
  space_.edges.push_back({piece.score, application_, choice_->slot,
                          static_cast<std::uint32_t>(space_.edge_tails.size()), kNoEdge});
  space_.edge_tails.insert(space_.edge_tails.end(), items_.begin(), items_.begin() + side_->arity);
}

void ExactSearch::finish_cell() {
  std::vector<Node>& nodes = nodes_[cell_];
  std::ranges::sort(nodes, [](const Node& a, const Node& b) {
    const double x = a.piece.optimistic();
    const double y = b.piece.optimistic();
    return x != y ? x > y : a.item < b.item;
  });
}

void ExactSearch::score_goals() {
  const auto& lms = context_.model.lms();
  for (const Node& node : nodes_[context_.matches.goal]) {
    double* const scores = context_.arena.array<double>(lms_);
    double score = node.piece.score;
    for (std::size_t k = 0; k < lms_; ++k) {
      scores[k] = lms[k]->score_goal(node.piece.states[k], context_.model.goal_has_bos(), space_.lm_queries);
      score += context_.weights.lm[k] * scores[k];
    }
    if (score > floor_) space_.goals.push_back({score, node.item, scores});
  }
  std::ranges::sort(space_.goals, [](const Goal& a, const Goal& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  });
}

}  // namespace hiero
