#include "hiero/decode/relaxation.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr unsigned kRounds = 4;              // of subgradient steps and dropping
constexpr unsigned kSteps = 60;              // of a round
constexpr unsigned kPatience = 5;            // steps without a better bound before they become shorter
constexpr double kWorthAnotherRound = 0.02;  // share of choices that a round must drop

}  // namespace

Relaxation::Relaxation(const SearchContext& context, double floor)
    : context_(context), floor_(floor), junctions_(context) {
  read_choices();
  const auto& lms = context_.model.lms();
  std::vector<ChartState> states(lms.size());
  for (std::size_t k = 0; k < lms.size(); ++k) {
    const LmWord end_of_sentence = lms[k]->index("</s>");
    goal_words_ += context_.weights.lm[k] *
                   lms[k]->score_terminals({&end_of_sentence, 1}, false, states[k], lm_queries_);
  }
  if (!lms.empty()) goal_ = {junctions_.start(states.data()), 0, false, false};
  if (!lms.empty() && !context_.model.goal_has_bos()) {
    for (std::size_t k = 0; k < lms.size(); ++k) lms[k]->score_terminals({}, true, states[k], lm_queries_);
    opening_ = {0, junctions_.end(states.data()), false, true};
  }
}

void Relaxation::read_choices() {
  const Matches& matches = context_.matches;
  for (std::uint32_t a = 0; a < matches.applications.size(); ++a) {
    if (a % 1024 == 0) poll_interrupts();
    first_.push_back(choices_.size());
    count_.push_back(context_.targets.count(a));
    for (std::uint32_t i = 0; i < count_.back(); ++i) {
      const Target target = context_.targets.target(a, i);
      const std::uint32_t side = find_side(a, target.slot);
      const double score = target.score + context_.targets.offset(a) + sides_[side].target->bos_change;
      choices_.push_back({score, side, target.slot});
    }
  }
  best_.assign(count_.size(), 0);
}

std::uint32_t Relaxation::find_side(std::uint32_t a, std::uint32_t slot) {
  const Application& application = context_.matches.applications[a];
  const std::uint64_t key = (std::uint64_t{application.targets} << 32) | slot;
  const auto [it, added] = side_ids_.try_emplace(key, static_cast<std::uint32_t>(sides_.size()));
  if (added) {
    sides_.push_back({&context_.targets.side(application, slot), application.targets, 0, 0, false});
    add_runs(sides_.back(), context_.targets.follows_bos(application));
  }
  return it->second;
}

void Relaxation::add_runs(Side& side, bool follows_bos) {
  side.first_run = runs_.size();
  for (std::uint32_t chunk = 0; chunk <= side.target->arity; ++chunk) {
    const ChartState* const states = side.target->chunks + chunk * context_.model.lms().size();
    if (junctions_.is_empty(states)) continue;
    const bool is_first = chunk == 0 && follows_bos;
    runs_.push_back({chunk, is_first, is_first ? 0 : junctions_.start(states), junctions_.end(states)});
  }
  side.last_run = runs_.size();
}

// Adds the words and ends of all choices that are left to the junctions.
void Relaxation::read_words() {
  const std::size_t lms = context_.model.lms().size();
  for (Side& side : sides_) side.is_used = false;
  for (std::uint32_t a = 0; a < count_.size(); ++a) {
    for (const Choice& choice : choices(a)) sides_[choice.side].is_used = true;
  }
  junctions_.restart();
  for (const Side& side : sides_) {
    if (!side.is_used) continue;
    for (const Run& run : runs_of(side)) junctions_.allow(run.end);
    const BoundTable& table = context_.sentence.table(context_.matches.target_sets[side.set].table);
    for (std::uint32_t i = 0; i < side.target->size; ++i) {
      const Symbol symbol = side.target->symbols[i];
      for (std::size_t k = 0; k < lms && !is_nonterminal(symbol); ++k)
        junctions_.add(k, table.estimates.lm_words[k][symbol]);
    }
  }
  if (!opening_.is_empty) junctions_.allow(opening_.end);
  junctions_.prepare();
}

void Relaxation::tighten() {
  for (unsigned round = 0; round < kRounds; ++round) {
    read_words();
    if (!is_sound()) return;
    follow_subgradient();
    if (!is_sound() || bound_ <= floor_) return;
    const auto before = static_cast<double>(choices_left());
    drop();
    if (static_cast<double>(choices_left()) > (1 - kWorthAnotherRound) * before) break;
  }
  score_all();
  pass_outside();
  for (std::uint32_t a = 0; a < count_.size(); ++a) {
    const auto begin = choices_.begin() + static_cast<std::ptrdiff_t>(first_[a]);
    std::sort(begin, begin + count_[a], [this](const Choice& x, const Choice& y) {
      return optimistic(x) != optimistic(y) ? optimistic(x) > optimistic(y) : x.slot < y.slot;
    });
    best_[a] = 0;
  }
}

void Relaxation::keep_only(const std::unordered_set<const Choice*>& used) {
  for (std::uint32_t a = 0; a < count_.size(); ++a) {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count_[a]; ++i) {
      const Choice& choice = choices_[first_[a] + i];
      if (used.contains(&choice)) choices_[first_[a] + left++] = choice;
    }
    count_[a] = left;
  }
}

// Finds the potentials with the least bound.
void Relaxation::follow_subgradient() {
  std::vector<double>& potentials = junctions_.potentials();
  std::vector<double> best_potentials = potentials;
  double best_bound = std::numeric_limits<double>::infinity();
  double factor = 1;
  unsigned waited = 0;
  for (unsigned step = 0; step < kSteps; ++step) {
    poll_interrupts();
    score_all();
    if (!is_sound()) return;
    if (bound_ < best_bound) {
      best_bound = bound_;
      best_potentials = potentials;
      waited = 0;
    } else if (++waited == kPatience) {
      factor *= 0.5;
      potentials = best_potentials;
      score_all();
      waited = 0;
    }
    const double norm = count_junctions();
    if (bound_ <= floor_ || norm == 0) break;
    const double length = factor * (bound_ - floor_) / norm;
    for (std::size_t end = 0; end < potentials.size(); ++end) potentials[end] -= length * counts_[end];
  }
  potentials = best_potentials;
  score_all();
}

void Relaxation::score_all() {
  junctions_.update();
  score_runs();
  pass_inside();
}

void Relaxation::score_runs() {
  run_scores_.resize(runs_.size());
  run_ends_.resize(runs_.size());
  const std::vector<double>& potentials = junctions_.potentials();
  side_bounds_.resize(sides_.size());
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const Side& side = sides_[i];
    if (!side.is_used) continue;
    double bound = 0;
    for (std::size_t r = side.first_run; r < side.last_run; ++r) {
      const Run& run = runs_[r];
      const Junctions::Best best = run.is_first ? Junctions::Best{0, 0} : junctions_.best(run.start);
      run_ends_[r] = best.end;
      run_scores_[r] = best.score + potentials[run.end];
      bound += run_scores_[r];
    }
    side_bounds_[i] = bound;
  }
  for (std::uint32_t a = 0; a < count_.size(); ++a) {
    const std::span<const Choice> all = choices(a);
    const auto best = std::ranges::max_element(all, {}, [this](const Choice& c) { return optimistic(c); });
    best_[a] = static_cast<std::uint32_t>(best - all.begin());
  }
  if (context_.model.lms().empty()) return;
  const Junctions::Best best = junctions_.best(goal_.start);
  goal_end_ = best.end;
  goal_bound_ = goal_words_ + best.score;
  if (!opening_.is_empty) goal_bound_ += potentials[opening_.end];
}

double Relaxation::score_tails(std::uint32_t application) const {
  double sum = 0;
  for (const CellId tail : context_.matches.tails(context_.matches.applications[application]))
    sum += inside_[tail];
  return sum;
}

void Relaxation::pass_inside() {
  const Matches& matches = context_.matches;
  inside_.resize(matches.cells.size());
  best_application_.resize(matches.cells.size());
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    inside_[id] = kImpossible;
    for (std::uint32_t a = matches.cells[id].first; a < matches.cells[id].last; ++a) {
      if (count_[a] == 0) continue;
      const double score = score_tails(a) + optimistic(choices(a)[best_[a]]);
      if (score <= inside_[id]) continue;
      inside_[id] = score;
      best_application_[id] = a;
    }
  }
  bound_ = inside_[matches.goal] + goal_bound_;
}

void Relaxation::pass_outside() {
  const Matches& matches = context_.matches;
  outside_.assign(matches.cells.size(), kImpossible);
  outside_[matches.goal] = goal_bound_;
  for (auto id = static_cast<CellId>(matches.cells.size()); id-- > 0;) {
    if (outside_[id] == kImpossible) continue;
    for (std::uint32_t a = matches.cells[id].first; a < matches.cells[id].last; ++a) {
      if (count_[a] == 0) continue;
      const double through = outside_[id] + score_tails(a) + optimistic(choices(a)[best_[a]]);
      if (through == kImpossible) continue;
      for (const CellId tail : matches.tails(matches.applications[a]))
        outside_[tail] = std::max(outside_[tail], through - inside_[tail]);
    }
  }
}

// Counts in the best derivation how often runs end in a way, minus how often a bound chose that end. Returns
// the sum of squares.
double Relaxation::count_junctions() {
  counts_.assign(junctions_.potentials().size(), 0);
  if (context_.model.lms().empty() || bound_ == kImpossible) return 0;
  std::vector<CellId> cells{context_.matches.goal};
  while (!cells.empty()) {
    const std::uint32_t a = best_application_[cells.back()];
    cells.pop_back();
    const std::span<const CellId> tails = context_.matches.tails(context_.matches.applications[a]);
    cells.insert(cells.end(), tails.begin(), tails.end());
    const Side& side = sides_[choices(a)[best_[a]].side];
    for (std::size_t r = side.first_run; r < side.last_run; ++r) {
      ++counts_[runs_[r].end];
      if (!runs_[r].is_first) --counts_[run_ends_[r]];
    }
  }
  if (!opening_.is_empty) ++counts_[opening_.end];
  --counts_[goal_end_];
  double norm = 0;
  for (const double count : counts_) norm += count * count;
  return norm;
}

// Drops choices that no derivation above the floor has.
void Relaxation::drop() {
  pass_outside();
  const Matches& matches = context_.matches;
  for (std::uint32_t a = 0; a < count_.size(); ++a) {
    const double rest = floor_ - outside_[matches.applications[a].cell] - score_tails(a);
    const auto begin = choices_.begin() + static_cast<std::ptrdiff_t>(first_[a]);
    const auto end = std::remove_if(begin, begin + count_[a],
                                    [&](const Choice& choice) { return !(optimistic(choice) > rest); });
    count_[a] = static_cast<std::uint32_t>(end - begin);
    best_[a] = 0;
  }
}

std::size_t Relaxation::choices_left() const {
  return std::accumulate(count_.begin(), count_.end(), std::size_t{0});
}

}  // namespace hiero
