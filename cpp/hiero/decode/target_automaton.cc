#include "hiero/decode/target_automaton.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace hiero {
namespace {

using WordClass = TargetAutomaton::WordClass;

constexpr std::size_t kMostStates = std::size_t{1} << 12;
constexpr std::size_t kMostRequired = 32;  // bits of the set of those that were seen
// The classes of words that the constraint does not name: all others, and those that an unfinished word
// begins.
constexpr WordClass kOther = 0;
constexpr WordClass kFinishing = 1;
constexpr WordClass kFirstNamed = 2;

// The phrases as a trie with failure links (Aho and Corasick 1975).
class Phrases {
 public:
  Phrases(const std::vector<std::vector<WordClass>>& required,
          const std::vector<std::vector<WordClass>>& forbidden, std::size_t classes)
      : classes_(classes) {
    add_node();
    for (std::size_t k = 0; k < required.size(); ++k) seen_[insert(required[k])] |= std::uint32_t{1} << k;
    for (const auto& phrase : forbidden) forbidden_[insert(phrase)] = 1;
    link();
  }

  std::uint32_t next(std::uint32_t node, WordClass word) const { return next_[node * classes_ + word]; }
  // The required phrases that end here, a bit for each.
  std::uint32_t seen(std::uint32_t node) const { return seen_[node]; }
  bool is_forbidden(std::uint32_t node) const { return forbidden_[node]; }

 private:
  std::uint32_t add_node() {
    next_.resize(next_.size() + classes_, kNone);
    seen_.push_back(0);
    forbidden_.push_back(0);
    return static_cast<std::uint32_t>(seen_.size() - 1);
  }

  std::uint32_t insert(const std::vector<WordClass>& phrase) {
    std::uint32_t node = 0;
    for (const WordClass word : phrase) {
      if (next_[node * classes_ + word] == kNone) {
        const std::uint32_t child = add_node();
        next_[node * classes_ + word] = child;
      }
      node = next_[node * classes_ + word];
    }
    return node;
  }

  // Completes all transitions, breadth first.
  void link() {
    std::vector<std::uint32_t> fallback(seen_.size(), 0);
    std::vector<std::uint32_t> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t node = order[i];
      for (WordClass word = 0; word < classes_; ++word) {
        std::uint32_t& next = next_[node * classes_ + word];
        const std::uint32_t otherwise = node == 0 ? 0 : next_[fallback[node] * classes_ + word];
        if (next == kNone) {
          next = otherwise;
          continue;
        }
        fallback[next] = otherwise;
        seen_[next] |= seen_[otherwise];
        forbidden_[next] |= forbidden_[otherwise];
        order.push_back(next);
      }
    }
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::size_t classes_;
  std::vector<std::uint32_t> next_;  // by node, then class
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint8_t> forbidden_;
};

// The references as a trie.
class References {
 public:
  explicit References(const std::vector<std::vector<WordClass>>& references) : nodes_(1) {
    for (const auto& reference : references) {
      std::uint32_t at = 0;
      for (const WordClass word : reference) {
        const auto [child, added] =
            nodes_[at].next.try_emplace(word, static_cast<std::uint32_t>(nodes_.size()));
        const std::uint32_t depth = nodes_[at].depth + 1;
        at = child->second;
        if (added) nodes_.push_back({{}, depth, false});
      }
      nodes_[at].ends = true;
    }
  }

  // The node after a word, if a reference goes on with it.
  std::optional<std::uint32_t> next(std::uint32_t node, WordClass word) const {
    const auto child = nodes_[node].next.find(word);
    return child == nodes_[node].next.end() ? std::nullopt : std::optional(child->second);
  }
  std::uint32_t depth(std::uint32_t node) const { return nodes_[node].depth; }
  bool ends(std::uint32_t node) const { return nodes_[node].ends; }

 private:
  struct Node {
    std::map<WordClass, std::uint32_t> next;
    std::uint32_t depth = 0;
    bool ends = false;
  };
  std::vector<Node> nodes_;
};

// WordList of the prefix that are behind, the nodes of the references and the phrases, and the required ones
// seen.
using Progress = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

}  // namespace

WordClass TargetAutomaton::class_of(std::string_view word) const {
  const auto named = classes_.find(std::string(word));
  if (named != classes_.end()) return named->second;
  return finishes(word) ? kFinishing : kOther;
}

// Whether an unfinished word may become this one.
bool TargetAutomaton::finishes(std::string_view word) const {
  return std::ranges::any_of(unfinished_,
                             [word](const std::string& begun) { return word.starts_with(begun); });
}

TargetAutomaton::TargetAutomaton(const TargetConstraint& constraint) : unfinished_(constraint.unfinished) {
  const auto number = [this](const WordList& words) {
    std::vector<WordClass> out;
    for (const std::string& word : words) {
      const auto fresh = static_cast<WordClass>(kFirstNamed + classes_.size());
      out.push_back(classes_.try_emplace(word, fresh).first->second);
    }
    return out;
  };
  const auto number_all = [&](const std::vector<WordList>& phrases) {
    std::vector<std::vector<WordClass>> out;
    for (const WordList& phrase : phrases) out.push_back(number(phrase));
    return out;
  };
  const std::vector<WordClass> prefix = number(constraint.prefix);
  const auto prefix_size = static_cast<std::uint32_t>(prefix.size() + !unfinished_.empty());
  const References references(number_all(constraint.references));
  const auto required = number_all(constraint.required);
  const auto forbidden = number_all(constraint.forbidden);
  for (const auto* phrases : {&constraint.required, &constraint.forbidden})
    if (std::ranges::any_of(*phrases, &WordList::empty))
      throw std::invalid_argument("an empty phrase is required or forbidden");
  if (required.size() > kMostRequired)
    throw std::invalid_argument("more than " + std::to_string(kMostRequired) + " phrases are required");
  const bool is_free = constraint.references.empty();
  if (is_free) words_ = prefix_size;
  if (constraint.references.size() == 1) words_ = static_cast<std::uint32_t>(constraint.references[0].size());
  class_count_ = kFirstNamed + classes_.size();
  std::vector<std::uint8_t> finishing(class_count_, 0);
  finishing[kFinishing] = 1;
  for (const auto& [word, id] : classes_) finishing[id] = finishes(word);

  const Phrases phrases(required, forbidden, class_count_);
  const auto all_seen = static_cast<std::uint32_t>((std::uint64_t{1} << required.size()) - 1);
  std::map<Progress, State> ids;
  std::vector<Progress> states;
  const auto id_of = [&](const Progress& progress) {
    const auto [at, added] = ids.try_emplace(progress, static_cast<State>(states.size()));
    if (added) states.push_back(progress);
    return at->second;
  };
  id_of({0, 0, 0, 0});
  for (State state = 0; state < states.size(); ++state) {
    const auto [in_prefix, reference, node, seen] = states[state];
    accepts_.push_back(in_prefix == prefix_size && seen == all_seen &&
                       (is_free || references.ends(reference)));
    positions_.push_back(is_free ? in_prefix : references.depth(reference));
    for (WordClass word = 0; word < class_count_; ++word) {
      next_.push_back(kDead);
      if (in_prefix < prefix.size() ? prefix[in_prefix] != word : in_prefix < prefix_size && !finishing[word])
        continue;
      const std::optional<std::uint32_t> on = is_free ? 0 : references.next(reference, word);
      if (!on) continue;
      std::uint32_t phrase = phrases.next(node, word);
      if (phrases.is_forbidden(phrase)) continue;
      const std::uint32_t now_seen = seen | phrases.seen(phrase);
      // Where nothing is left to look for, all places in phrases are the same.
      if (forbidden.empty() && now_seen == all_seen) phrase = 0;
      next_.back() = id_of({std::min(in_prefix + 1, prefix_size), *on, phrase, now_seen});
      if (states.size() > kMostStates)
        throw std::invalid_argument("too many required and forbidden phrases: they need more than " +
                                    std::to_string(kMostStates) + " states");
    }
  }
  before_.resize(class_count_);
  for (State state = 0; state < size(); ++state) {
    for (WordClass word = 0; word < class_count_; ++word)
      if (next(state, word) != kDead) before_[word].push_back(state);
  }
}

}  // namespace hiero
