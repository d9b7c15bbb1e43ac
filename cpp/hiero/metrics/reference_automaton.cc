#include "hiero/metrics/reference_automaton.h"

#include <unordered_map>

namespace hiero {

ReferenceAutomaton::ReferenceAutomaton(std::span<const std::string> words,
                                       std::span<const std::vector<std::string>> references)
    : column_(words.size(), -1) {
  std::unordered_map<std::string, std::int32_t> columns;
  for (const auto& reference : references) {
    for (const std::string& word : reference)
      columns.try_emplace(word, static_cast<std::int32_t>(columns.size()));
  }
  columns_ = columns.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto column = columns.find(words[i]);
    if (column != columns.end()) column_[i] = column->second;
  }

  // First a trie of all n-grams, with -1 where there is no child.
  const auto add_state = [this](std::size_t depth) {
    table_.resize(table_.size() + columns_, -1);
    depth_.push_back(static_cast<std::uint8_t>(depth));
    return static_cast<State>(depth_.size() - 1);
  };
  add_state(0);
  for (const auto& reference : references) {
    for (std::size_t begin = 0; begin < reference.size(); ++begin) {
      State state = kStart;
      for (std::size_t end = begin; end < reference.size() && end < begin + kBleuOrder; ++end) {
        const auto column = static_cast<std::size_t>(columns.at(reference[end]));
        const std::size_t cell = static_cast<std::size_t>(state) * columns_ + column;
        if (table_[cell] < 0) {
          const State child = add_state(end - begin + 1);  // may move the table
          table_[cell] = child;
        }
        state = table_[cell];
      }
    }
  }

  // Then, breadth first, transitions where there is no child: those of the longest suffix (Aho and Corasick
  // 1975).
  suffix_.assign(depth_.size(), kStart);
  std::vector<State> open{kStart};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const State state = open[i];
    for (std::size_t column = 0; column < columns_; ++column) {
      State& target = table_[static_cast<std::size_t>(state) * columns_ + column];
      const State of_suffix =
          state == kStart
              ? kStart
              : table_[static_cast<std::size_t>(suffix_[static_cast<std::size_t>(state)]) * columns_ +
                       column];
      if (target < 0) {
        target = of_suffix;
      } else {
        suffix_[static_cast<std::size_t>(target)] = of_suffix;
        open.push_back(target);
      }
    }
  }
  for (State state = 0; state < static_cast<State>(depth_.size()); ++state) {
    shorter_.push_back(depth(state) < kBleuOrder ? state : suffix_[static_cast<std::size_t>(state)]);
  }
}

}  // namespace hiero
