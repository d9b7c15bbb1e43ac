// What the words of a translation must be, as a deterministic automaton over target words: the translation
// begins with a prefix, is one of its references, contains required phrases, or lacks forbidden ones, or
// several of these. Required and forbidden phrases are found by one automaton of Aho and Corasick (1975),
// beside which a state has the set of required phrases that were seen.
//
// How to use: make one of a constraint; class_of() a word's text, then next() from kStart on. WordList that
// the constraint does not name share classes, so that a state has few ways on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hiero {

using WordList = std::vector<std::string>;

struct TargetConstraint {
  WordList prefix;      // the first words; empty: any
  WordList unfinished;  // the word after the prefix begins with one of these; empty: with anything
  std::vector<WordList> references;  // all words: those of one of these; empty: any
  std::vector<WordList> required;    // phrases that occur at least once each
  std::vector<WordList> forbidden;   // phrases that do not occur

  bool any() const {
    return !prefix.empty() || !unfinished.empty() || !references.empty() || !required.empty() ||
           !forbidden.empty();
  }
};

class TargetAutomaton {
 public:
  using State = std::uint32_t;
  using WordClass = std::uint32_t;
  static constexpr State kStart = 0;
  static constexpr State kDead = ~State{0};

  // Throws std::invalid_argument for an empty phrase, and for phrases that need more than 4096 states, or
  // more than 32 required ones.
  explicit TargetAutomaton(const TargetConstraint& constraint);

  std::uint32_t size() const { return static_cast<std::uint32_t>(accepts_.size()); }
  WordClass class_of(std::string_view word) const;
  // The state after a word, or kDead.
  State next(State state, WordClass word) const { return next_[std::size_t{state} * class_count_ + word]; }
  bool accepts(State state) const { return accepts_[state]; }
  // States from which words of a class go on.
  const std::vector<State>& before(WordClass word) const { return before_[word]; }
  // The number of words of the only reference, or of the prefix if there is none, or else 0; and how many
  // words of a reference or of the prefix a state has behind it.
  std::uint32_t words() const { return words_; }
  std::uint32_t position(State state) const { return positions_[state]; }

 private:
  bool finishes(std::string_view word) const;

  std::unordered_map<std::string, WordClass> classes_;
  WordList unfinished_;
  std::size_t class_count_ = 0;
  std::vector<State> next_;  // by state, then class
  std::vector<std::uint8_t> accepts_;
  std::uint32_t words_ = 0;
  std::vector<std::uint32_t> positions_;
  std::vector<std::vector<State>> before_;
};

}  // namespace hiero
