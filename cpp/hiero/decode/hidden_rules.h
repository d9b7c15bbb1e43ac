// Rules of the model that a sentence is translated without.
//
// How to use: HiddenRules hidden(model, rules); after matching, hidden.drop(matches).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/decode/matches.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

class HiddenRules {
 public:
  // Finds rules with the label and both sides of one of `rules` in all tables of the model.
  HiddenRules(const TranslationModel& model, const std::vector<Rule>& rules);

  bool any() const { return any_; }
  // Whether the model translates a word, and by hidden rules alone.
  bool hides_all(std::string_view word) const;
  // Drops the rules from the matches of a sentence. If no derivation of the whole sentence is left, the
  // matches have no cells.
  void drop(Matches& matches) const;

 private:
  void find(std::size_t table, const Rule& rule);
  bool hides(std::size_t table, RuleId rule) const;

  const TranslationModel& model_;
  std::vector<std::vector<RuleId>> rules_;  // by table, sorted
  bool any_ = false;
};

}  // namespace hiero
