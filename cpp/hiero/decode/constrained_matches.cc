#include "hiero/decode/constrained_matches.h"

#include <algorithm>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr TargetAutomaton::WordClass kUnknown = ~TargetAutomaton::WordClass{0};

}  // namespace

Uncovered MatchConstrainer::run(const Sentence& sentence, const TargetAutomaton& automaton,
                                Matches& matches) {
  sentence_ = &sentence;
  automaton_ = &automaton;
  all_ = &matches;
  out_.clear();
  out_.length = matches.length;
  std::swap(out_.paths, matches.paths);
  sides_.resize(std::max(sides_.size(), matches.target_sets.size()));
  has_sides_.assign(matches.target_sets.size(), 0);
  classes_.resize(sentence.table_count());
  for (std::size_t t = 0; t < classes_.size(); ++t)
    classes_[t].assign(sentence.table(t).table->word_count(), kUnknown);
  cells_.resize(std::max(cells_.size(), matches.cells.size()));
  subsets_.clear();
  states_.clear();
  origins_.clear();
  for (CellId id = 0; id < matches.cells.size(); ++id) {
    poll_interrupts();
    constrain_cell(id);
  }
  Uncovered uncovered;
  if (out_.goal == kNoCell) uncovered = find_uncovered();
  useless_.drop(out_);
  std::swap(matches, out_);
  return uncovered;
}

// Goes over the words of all applications, whether or not a derivation of the whole sentence has them.
Uncovered MatchConstrainer::find_uncovered() const {
  std::vector<std::uint8_t> source(sentence_->size(), 0);
  std::vector<std::uint8_t> target(automaton_->words(), 0);
  for (const Application& application : out_.applications) {
    out_.visit_words(application, [&](std::uint32_t position) { source[position] = 1; });
    const TargetSet& set = out_.target_sets[application.targets];
    const Sides& sides = sides_[origins_[application.targets]];
    for (std::uint32_t i = 0; i < set.size(); ++i) {
      const std::uint32_t slot = out_.slot(set, i);
      State state = states_[application.cell].first;
      for (std::uint32_t at = sides.firsts[slot]; at < sides.firsts[slot + 1]; ++at) {
        const Symbol symbol = sides.symbols[at];
        if (is_nonterminal(symbol)) {
          state = states_[out_.tails(application)[payload(symbol)]].second;
          continue;
        }
        if (automaton_->position(state) < target.size()) target[automaton_->position(state)] = 1;
        state = automaton_->next(state, symbol);
      }
    }
  }
  const auto zeros = [](const std::vector<std::uint8_t>& covered) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < covered.size(); ++i)
      if (!covered[i]) out.push_back(i);
    return out;
  };
  return {zeros(source), zeros(target)};
}

void MatchConstrainer::constrain_cell(CellId id) {
  cell_ = id;
  applications_.clear();
  const Cell& cell = all_->cells[id];
  for (std::uint32_t a = cell.first; a < cell.last; ++a) {
    const Application& application = all_->applications[a];
    fit_targets(application);
    add_applications(application);
  }
  std::ranges::stable_sort(applications_, {}, [](const StateApplication& application) {
    return std::pair(application.before, application.after);
  });
  std::vector<StateCell>& cells = cells_[id];
  cells.clear();
  for (const auto& [before, after, application] : applications_) {
    if (cells.empty() || cells.back().before != before || cells.back().after != after) {
      cells.push_back({before, after, static_cast<CellId>(out_.cells.size())});
      states_.emplace_back(before, after);
      const auto first = static_cast<std::uint32_t>(out_.applications.size());
      out_.cells.push_back({cell.begin, cell.end, cell.label, first, first});
    }
    out_.applications.push_back(application);
    out_.applications.back().cell = cells.back().cell;
    ++out_.cells.back().last;
  }
  // record() gives all strings of the goal that obey the same states.
  if (id == all_->goal && !cells.empty()) out_.goal = cells.back().cell;
}

// Finds the targets of an application that lead from some state to another, over cells that there are.
void MatchConstrainer::fit_targets(const Application& application) {
  fits_.clear();
  tails_ = all_->tails(application);
  const Sides& sides = sides_of(application.targets);
  Fit fit{};
  const TargetSet& set = all_->target_sets[application.targets];
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    fit.slot = all_->slot(set, i);
    const Symbol* const at = sides.symbols.data() + sides.firsts[fit.slot];
    const Symbol* const end = sides.symbols.data() + sides.firsts[fit.slot + 1];
    if (at == end) {
      for (fit.before = 0; fit.before < automaton_->size(); ++fit.before) record(fit.before, fit);
    } else if (!is_nonterminal(*at)) {
      for (const State before : automaton_->before(*at)) {
        fit.before = before;
        walk(at, end, before, fit);
      }
    } else {
      for (const StateCell& tail : cells_[tails_[payload(*at)]]) {
        fit.before = tail.before;
        fit.tails[payload(*at)] = tail.cell;
        walk(at + 1, end, tail.after, fit);
      }
    }
  }
}

// Goes on with the rest of a target side, over all cells that begin with the state there.
void MatchConstrainer::walk(const Symbol* at, const Symbol* end, State state, Fit& fit) {
  for (; at != end && !is_nonterminal(*at); ++at) {
    state = automaton_->next(state, *at);
    if (state == TargetAutomaton::kDead) return;
  }
  if (at == end) {
    record(state, fit);
    return;
  }
  const std::uint32_t source = payload(*at);
  for (const StateCell& tail :
       std::ranges::equal_range(cells_[tails_[source]], state, {}, &StateCell::before)) {
    fit.tails[source] = tail.cell;
    walk(at + 1, end, tail.after, fit);
  }
}

void MatchConstrainer::record(State after, Fit& fit) {
  fit.after = after;
  if (cell_ == all_->goal) {
    if (fit.before != TargetAutomaton::kStart || !automaton_->accepts(after)) return;
    fit.after = TargetAutomaton::kStart;  // nothing is above it that could tell
  }
  fits_.push_back(fit);
}

// Makes an application of all targets that fit with the same states and antecedents.
void MatchConstrainer::add_applications(const Application& application) {
  std::ranges::stable_sort(fits_, {}, &Fit::key);
  for (auto first = fits_.begin(); first != fits_.end();) {
    const auto last =
        std::find_if(first, fits_.end(), [&](const Fit& fit) { return fit.key() != first->key(); });
    Application fitting = application;
    fitting.first_tail = static_cast<std::uint32_t>(out_.tail_cells.size());
    out_.tail_cells.insert(out_.tail_cells.end(), first->tails.begin(),
                           first->tails.begin() + application.arity);
    fitting.targets = subset(application.targets, {first, last});
    applications_.push_back({first->before, first->after, fitting});
    first = last;
  }
}

// Returns the target set of those of a set's rules that fit.
std::uint32_t MatchConstrainer::subset(std::uint32_t set, std::span<const Fit> fits) {
  TargetSet some = all_->target_sets[set];
  std::vector<std::uint32_t> slots;  // empty for all
  if (fits.size() < some.group.count)
    for (const Fit& fit : fits) slots.push_back(fit.slot);
  const auto [at, added] =
      subsets_.try_emplace({set, std::move(slots)}, static_cast<std::uint32_t>(out_.target_sets.size()));
  if (added) {
    some.first_slot = static_cast<std::uint32_t>(out_.slots.size());
    some.slot_count = static_cast<std::uint32_t>(at->first.second.size());
    out_.slots.insert(out_.slots.end(), at->first.second.begin(), at->first.second.end());
    out_.target_sets.push_back(some);
    origins_.push_back(set);
  }
  return at->second;
}

const MatchConstrainer::Sides& MatchConstrainer::sides_of(std::uint32_t set) {
  Sides& sides = sides_[set];
  if (has_sides_[set]) return sides;
  has_sides_[set] = 1;
  sides.firsts.assign(1, 0);
  sides.symbols.clear();
  const TargetSet& target_set = all_->target_sets[set];
  const RuleTable& table = *sentence_->table(target_set.table).table;
  for (std::uint32_t slot = 0; slot < target_set.group.count; ++slot) {
    table.record(target_set.group.first_rule + slot, record_);
    if (std::ranges::count_if(record_.target, is_nonterminal) != target_set.arity) {
      throw FormatError(table.name() + ": damaged rule table: nonterminals of rule " +
                        std::to_string(target_set.group.first_rule + slot));
    }
    for (const Symbol symbol : record_.target)
      sides.symbols.push_back(is_nonterminal(symbol) ? symbol : class_of(target_set.table, symbol));
    sides.firsts.push_back(static_cast<std::uint32_t>(sides.symbols.size()));
  }
  return sides;
}

TargetAutomaton::WordClass MatchConstrainer::class_of(std::size_t table, WordId word) {
  WordClass& known = classes_[table][word];
  if (known == kUnknown) known = automaton_->class_of(sentence_->table(table).table->word(word));
  return known;
}

}  // namespace hiero
