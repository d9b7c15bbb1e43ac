// Random grammars and sentences for tests of the decoder. Source words are a, b and c, target words u, v and
// w.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "hiero/grammar/rule_text.h"

namespace hiero {

using Random = std::mt19937;

// Returns a random number below `limit`.
inline std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

inline std::vector<Rule> random_rules(Random& random) {
  std::vector<Rule> rules;
  for (std::size_t n = 4 + below(random, 10); n > 0; --n) {
    std::string source;
    std::string target;
    int arity = 0;
    for (std::size_t i = 1 + below(random, 4); i > 0; --i) {
      if (arity < 2 && below(random, 3) == 0) {
        const std::string nonterminal = " [X," + std::to_string(++arity) + "]";
        source += nonterminal;
        target = below(random, 2) == 0 ? target + nonterminal : nonterminal + target;
      } else {
        source += std::string(" ") + "abc"[below(random, 3)];
      }
      if (below(random, 2) == 0) target += std::string(" ") + "uvw"[below(random, 3)];
    }
    if (source == " [X,1]") source += " a";
    rules.push_back(parse_rule(
        "[X] |||" + source + " |||" + target + " ||| A=-0." + std::to_string(below(random, 900) + 100),
        "rule"));
  }
  return rules;
}

// Returns 0 to `max_length` words; the word "d" occurs in no rule.
inline std::vector<std::string> random_sentence(Random& random, std::size_t max_length) {
  std::vector<std::string> tokens;
  for (std::size_t n = below(random, max_length + 1); n > 0; --n)
    tokens.emplace_back(1, "abcd"[below(random, 4)]);
  return tokens;
}

}  // namespace hiero
