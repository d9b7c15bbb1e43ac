#include "hiero/decode/search.h"

#include <algorithm>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr std::uint64_t kPollEvery = 4096;  // hypotheses of a cell between two polls for interrupts
constexpr std::uint64_t kLookEvery = 256;   // and between two looks at the deadline

// Returns how far into its span the first nonterminal of an application reaches; 0 if there is none, and for
// unary rules, whose split point is that of the derivation below them.
std::uint32_t split_point(const Matches& matches, std::uint32_t application) {
  const Application& a = matches.applications[application];
  if (a.arity == 0) return 0;
  const Cell& cell = matches.cells[a.cell];
  const Cell& first = matches.cells[matches.tails(a)[0]];
  return first.end - first.begin == cell.end - cell.begin ? 0 : first.end - cell.begin;
}

}  // namespace

Search::Search(const TranslationModel& model, Arena& arena)
    : arena_(arena),
      vertices_(space_.items, model.lms().size(), arena),
      hypotheses_(model, vertices_, arena),
      items_(space_, model.lms().size(), arena) {}

const SearchSpace& Search::run(const SearchContext& context) {
  const auto cells = static_cast<CellId>(context.matches.cells.size());
  space_.clear(cells);
  vertices_.clear(cells);
  hypotheses_.clear();
  budget_.start(context);
  for (CellId cell = 0; cell < cells; ++cell) {
    poll_interrupts();
    search_cell(context, cell);
  }
  score_goals(context);
  space_.lm_queries += hypotheses_.lm_queries();
  return space_;
}

void Search::search_cell(const SearchContext& context, CellId id) {
  queue_.clear();
  items_.start(id);
  const Cell& cell = context.matches.cells[id];
  for (std::uint32_t a = cell.first; a < cell.last; ++a) push_application(context, a, 0);

  const std::uint64_t limit = budget_.limit(id);
  std::uint64_t complete = 0;
  if (context.is_late()) space_.was_late = true;
  while (!queue_.empty() && complete < limit && !(queue_.best_score() < items_.threshold())) {
    if (complete > 0 && space_.was_late)
      break;  // each cell has an item, so that the sentence has a derivation
    PartialHypothesis* partial = open(context, queue_.pop());
    if (complete % kPollEvery == kPollEvery - 1) poll_interrupts();
    if (complete % kLookEvery == kLookEvery - 1 && context.is_late()) space_.was_late = true;
    if (!expand(context, partial)) continue;
    items_.add(context, *partial);
    hypotheses_.release(partial);
    ++complete;
  }
  space_.hypotheses += complete;
  budget_.spent(id, complete);
  space_.survivors[id] = items_.finish(context.options);
  if (!queue_.empty() || space_.survivors[id].size() < items_.size()) space_.is_complete = false;
  if (!space_.survivors[id].empty()) vertices_.add(id, space_.survivors[id]);
  if (context.keep == Keep::kSplits) complete_splits(context, id);
  // The next cell uses this memory while it is warm in the cache.
  for (const Waiting& waiting : queue_.entries()) {
    if (waiting.partial) hypotheses_.release(waiting.partial);
  }
}

// Queues an application with its target number `position`, if it has so many and all its antecedent cells
// have items.
void Search::push_application(const SearchContext& context, std::uint32_t application,
                              std::uint32_t position) {
  if (position >= context.targets.count(application)) return;
  double score = context.targets.target(application, position).score + context.targets.offset(application);
  for (CellId tail : context.matches.tails(context.matches.applications[application])) {
    const VertexNode* root = vertices_.root(tail);
    if (!root) return;
    score += root->bound;
  }
  queue_.push(score, {nullptr, application, position});
}

// Returns the hypothesis that was popped. An application is opened, and queued again with its next target.
PartialHypothesis* Search::open(const SearchContext& context, const Waiting& waiting) {
  if (waiting.partial) return waiting.partial;
  push_application(context, waiting.application, waiting.position + 1);
  return hypotheses_.open(context, waiting.application, waiting.position);
}

// Expands a hypothesis until it is complete, or until it is no longer the best: then queues it, returns
// false.
bool Search::expand(const SearchContext& context, PartialHypothesis* partial) {
  for (;;) {
    if (!queue_.empty() && static_cast<float>(partial->score) < queue_.best_score()) {
      queue_.push(partial->score, {partial});
      return false;
    }
    if (partial->is_complete()) return true;
    PartialHypothesis* rest = hypotheses_.expand(context, *partial);
    if (rest) queue_.push(rest->score, {rest});
  }
}

// Goes on with the cell's queue, but only with hypotheses whose split point has no complete one.
void Search::complete_splits(const SearchContext& context, CellId id) {
  const Cell& cell = context.matches.cells[id];
  wants_split_.assign(cell.end - cell.begin + 1, 0);
  for (std::uint32_t a = cell.first; a < cell.last; ++a) wants_split_[split_point(context.matches, a)] = 1;
  for (const SearchEdge& edge : items_.edges())
    wants_split_[split_point(context.matches, edge.application)] = 0;
  wants_split_[0] = 0;
  auto missing = std::ranges::count(wants_split_, 1);
  while (missing > 0 && !queue_.empty()) {
    const Waiting next = queue_.pop();
    const std::uint32_t application = next.partial ? next.partial->application : next.application;
    std::uint8_t& wanted = wants_split_[split_point(context.matches, application)];
    if (!wanted) {
      if (next.partial) hypotheses_.release(next.partial);
      continue;
    }
    PartialHypothesis* partial = open(context, next);
    if (!expand(context, partial)) continue;
    space_.completed.push_back(items_.add_apart(*partial));
    hypotheses_.release(partial);
    wanted = 0;
    --missing;
  }
}

// Scores the items of the goal cell as whole sentences.
void Search::score_goals(const SearchContext& context) {
  if (context.matches.goal == kNoCell) return;
  const auto& lms = context.model.lms();
  for (const ItemId id : space_.survivors[context.matches.goal]) {
    const Item& item = space_.items[id];
    double* const lm_scores = arena_.array<double>(lms.size());
    double score = item.score;
    for (std::size_t k = 0; k < lms.size(); ++k) {
      lm_scores[k] = lms[k]->score_goal(item.states[k], context.model.goal_has_bos(), space_.lm_queries);
      score += context.weights.lm[k] * lm_scores[k];
    }
    space_.goals.push_back({score, id, lm_scores});
  }
  std::ranges::sort(space_.goals, [](const Goal& a, const Goal& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  });
}

}  // namespace hiero
