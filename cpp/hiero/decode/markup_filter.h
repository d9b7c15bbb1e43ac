// The rule applications that agree with the markup of a sentence (source_markup.h). Search and forests work
// on what is left as on any matches, and all derivations that are left agree.
//
// How to use: keep one per thread, and run() it on the matches of a sentence, before MatchConstrainer.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/sentence.h"

namespace hiero {

class MarkupFilter {
 public:
  // Drops applications, or some of their targets. If no derivation of the whole sentence is left, the matches
  // have no cells.
  void run(const Sentence& sentence, Matches& matches);

 private:
  // The place of words or of an antecedent relative to a zone or a wall.
  enum class Part : std::uint8_t {
    kNeutral,  // beyond the scope of a wall
    kOutside,  // of a zone
    kInside,
    kBegins,  // outside, then inside: over the beginning of a zone
    kEnds,    // inside, then outside
    kAround,  // around a zone, or on both sides of a wall in this order
    kLeft,    // of a wall
    kRight,
    kMixed  // words of which it is not known in which order they are
  };
  // What a zone or a wall asks of the order of a target side.
  struct Order {
    Part words;
    std::array<Part, kMaxArity> tails;
    bool begins_inside;
    bool ends_inside;
  };

  void find_agreeing(const Application& application);
  void use_agreeing(Application& application);
  bool touches(const Application& application, const SourceSpan& span) const;
  // Find what is asked of the targets of an application.
  void ask_order(const Application& application);
  bool ask_translations(const Application& application);
  void order_by_zone(const Application& application, const SourceSpan& zone);
  void order_by_wall(const Application& application, const Wall& wall);
  bool is_ordered(const Order& order) const;
  bool has_translation(const MarkedPhrase& phrase, const RuleTable& table) const;
  const std::vector<bool>& keeping(const Application& application);
  SourceSpan span(CellId cell) const { return {matches_->cells[cell].begin, matches_->cells[cell].end}; }

  const Sentence* sentence_ = nullptr;
  Matches* matches_ = nullptr;
  UselessCells useless_;
  RuleRecord record_;                       // the rule at hand
  std::vector<std::uint32_t> slots_;        // targets of the application at hand that agree
  std::vector<Order> orders_;               // what is asked of them
  std::vector<const MarkedPhrase*> asked_;  // phrases of which they must have a translation
  std::vector<std::vector<bool>>
      keeping_;  // by set and slot: whether they have the kept words; not known yet
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> subsets_;  // by set and slots
};

}  // namespace hiero
