#include "hiero/decode/markup_filter.h"

#include <algorithm>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

// States of a walk over a target side: what was seen of a zone, or of the right of a wall (kAfter).
enum State : std::uint8_t { kBefore, kWithin, kAfter, kDead };

// The state after a part, by part and state.
constexpr State kNext[][3] = {
    {kBefore, kWithin, kAfter},  // kNeutral
    {kBefore, kAfter, kAfter},   // kOutside
    {kWithin, kWithin, kDead},   // kInside
    {kWithin, kDead, kDead},     // kBegins
    {kAfter, kAfter, kDead},     // kEnds
    {kAfter, kDead, kDead},      // kAround
    {kBefore, kDead, kDead},     // kLeft
    {kAfter, kDead, kAfter},     // kRight
    {kDead, kDead, kDead},       // kMixed
};

}  // namespace

void MarkupFilter::run(const Sentence& sentence, Matches& matches) {
  sentence_ = &sentence;
  matches_ = &matches;
  keeping_.assign(matches.target_sets.size(), {});
  subsets_.clear();
  keep_applications(matches, useless_, [this](Application& application) {
    poll_interrupts();
    find_agreeing(application);
    if (!slots_.empty()) use_agreeing(application);
    return !slots_.empty();
  });
}

// Finds the targets of an application that agree with the markup.
void MarkupFilter::find_agreeing(const Application& application) {
  slots_.clear();
  const SourceMarkup& markup = sentence_->markup();
  const bool is_exclusive = std::ranges::any_of(markup.phrases, [&](const MarkedPhrase& phrase) {
    return phrase.mode == PhraseMode::kExclusive && touches(application, phrase.span);
  });
  const bool can_agree = !is_exclusive && ask_translations(application);
  if (can_agree) ask_order(application);
  const std::vector<bool>* const keeping =
      can_agree && !markup.kept.empty() ? &this->keeping(application) : nullptr;
  const TargetSet& set = matches_->target_sets[application.targets];
  const RuleTable& table = *sentence_->table(set.table).table;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    const std::uint32_t slot = matches_->slot(set, i);
    const RuleId rule = set.group.first_rule + slot;
    if (const auto* const places = sentence_->places(set.table, rule)) {
      if (std::ranges::find(*places, span(application.cell)) != places->end()) slots_.push_back(slot);
      continue;
    }
    if (!can_agree || (keeping != nullptr && !(*keeping)[slot])) continue;
    if (!orders_.empty() || !asked_.empty()) {
      table.record(rule, record_);
      const bool agrees =
          std::ranges::all_of(orders_, [&](const Order& order) { return is_ordered(order); }) &&
          std::ranges::all_of(asked_,
                              [&](const MarkedPhrase* phrase) { return has_translation(*phrase, table); });
      if (!agrees) continue;
    }
    slots_.push_back(slot);
  }
}

void MarkupFilter::use_agreeing(Application& application) {
  TargetSet some = matches_->target_sets[application.targets];
  if (slots_.size() == some.size()) return;
  const auto [at, added] = subsets_.try_emplace({application.targets, slots_},
                                                static_cast<std::uint32_t>(matches_->target_sets.size()));
  if (added) {
    some.first_slot = static_cast<std::uint32_t>(matches_->slots.size());
    some.slot_count = static_cast<std::uint32_t>(slots_.size());
    matches_->slots.insert(matches_->slots.end(), slots_.begin(), slots_.end());
    matches_->target_sets.push_back(some);
  }
  application.targets = at->second;
}

// Whether a word of the rule is in the span.
bool MarkupFilter::touches(const Application& application, const SourceSpan& span) const {
  if (!this->span(application.cell).meets(span)) return false;
  bool found = false;
  matches_->visit_words(application, [&](std::uint32_t position) { found |= span.contains(position); });
  return found;
}

// Notes the phrases whose words the rule translates, some of whose translations its targets must have.
// Returns false if it translates only a part of one.
bool MarkupFilter::ask_translations(const Application& application) {
  asked_.clear();
  for (const MarkedPhrase& phrase : sentence_->markup().phrases) {
    if (phrase.mode != PhraseMode::kConstraint || !touches(application, phrase.span)) continue;
    std::uint32_t words = 0;
    matches_->visit_words(application,
                          [&](std::uint32_t position) { words += phrase.span.contains(position); });
    if (words < phrase.span.end - phrase.span.begin) return false;
    asked_.push_back(&phrase);
  }
  return true;
}

void MarkupFilter::ask_order(const Application& application) {
  orders_.clear();
  for (const SourceSpan& zone : sentence_->markup().zones) order_by_zone(application, zone);
  for (const Wall& wall : sentence_->markup().walls) order_by_wall(application, wall);
}

void MarkupFilter::order_by_zone(const Application& application, const SourceSpan& zone) {
  const SourceSpan cell = span(application.cell);
  if (!cell.meets(zone) || zone.contains(cell)) return;
  Order order{Part::kOutside, {}, zone.begin < cell.begin, cell.end < zone.end};
  bool inside = false;
  bool outside = false;
  matches_->visit_words(application,
                        [&](std::uint32_t position) { (zone.contains(position) ? inside : outside) = true; });
  if (inside) order.words = outside ? Part::kMixed : Part::kInside;
  for (std::uint32_t k = 0; k < application.arity; ++k) {
    const SourceSpan tail = span(matches_->tails(application)[k]);
    Part& part = order.tails[k];
    if (!tail.meets(zone)) {
      part = Part::kOutside;
    } else if (zone.contains(tail)) {
      part = Part::kInside;
    } else if (tail.contains(zone)) {
      part = Part::kAround;
    } else {
      part = tail.begin < zone.begin ? Part::kBegins : Part::kEnds;
    }
  }
  orders_.push_back(order);
}

void MarkupFilter::order_by_wall(const Application& application, const Wall& wall) {
  const auto part_of = [&](SourceSpan span) {
    span = {std::max(span.begin, wall.scope.begin), std::min(span.end, wall.scope.end)};
    if (span.begin >= span.end) return Part::kNeutral;
    if (span.end <= wall.position) return Part::kLeft;
    return span.begin >= wall.position ? Part::kRight : Part::kAround;
  };
  if (part_of(span(application.cell)) != Part::kAround) return;
  Order order{Part::kNeutral, {}, false, false};
  matches_->visit_words(application, [&](std::uint32_t position) {
    const Part part = part_of({position, position + 1});
    if (part == Part::kNeutral || part == order.words) return;
    order.words = order.words == Part::kNeutral ? part : Part::kMixed;
  });
  for (std::uint32_t k = 0; k < application.arity; ++k)
    order.tails[k] = part_of(span(matches_->tails(application)[k]));
  orders_.push_back(order);
}

// Whether the target side of the rule at hand has its parts in an order that is allowed.
bool MarkupFilter::is_ordered(const Order& order) const {
  State state = order.begins_inside ? kWithin : kBefore;
  for (const Symbol symbol : record_.target) {
    const Part part = is_nonterminal(symbol) ? order.tails[payload(symbol)] : order.words;
    state = kNext[static_cast<std::size_t>(part)][state];
    if (state == kDead) return false;
  }
  return !(order.ends_inside && state == kAfter);
}

// Whether the target side of the rule at hand has all words of one of the translations together.
bool MarkupFilter::has_translation(const MarkedPhrase& phrase, const RuleTable& table) const {
  return std::ranges::any_of(phrase.translations, [&](const std::vector<std::string>& words) {
    const auto same = [&](Symbol symbol, const std::string& word) {
      return !is_nonterminal(symbol) && table.word(symbol) == word;
    };
    return words.empty() || !std::ranges::search(record_.target, words, same).empty();
  });
}

// Tells for each target of an application's set whether it has every kept word as often as the source side.
const std::vector<bool>& MarkupFilter::keeping(const Application& application) {
  std::vector<bool>& known = keeping_[application.targets];
  const TargetSet& set = matches_->target_sets[application.targets];
  if (!known.empty()) return known;
  const RuleTable& table = *sentence_->table(set.table).table;
  const std::vector<std::string>& kept = sentence_->markup().kept;
  std::vector<std::ptrdiff_t> in_source(kept.size(), 0);
  matches_->visit_words(application, [&](std::uint32_t position) {
    const auto at = std::ranges::find(kept, without_marks(sentence_->tokens()[position]));
    if (at != kept.end()) ++in_source[static_cast<std::size_t>(at - kept.begin())];
  });
  for (std::uint32_t slot = 0; slot < set.group.count; ++slot) {
    table.record(set.group.first_rule + slot, record_);
    bool keeps = true;
    for (std::size_t k = 0; k < kept.size() && keeps; ++k) {
      keeps = in_source[k] == std::ranges::count_if(record_.target, [&](Symbol symbol) {
                return !is_nonterminal(symbol) && without_marks(table.word(symbol)) == kept[k];
              });
    }
    known.push_back(keeps);
  }
  return known;
}

}  // namespace hiero
