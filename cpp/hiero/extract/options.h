// Settings of rule extraction and of rule scoring (setting.h). The defaults of extraction are those of Chiang
// (2007, section 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/setting.h"

namespace hiero {

// Lines first to last of a bitext, inclusive, counted from 1.
struct LineRange {
  std::uint64_t first;
  std::uint64_t last;
};

struct ExtractOptions {
  std::uint32_t max_phrase = 10;
  std::uint32_t max_symbols = 5;
  std::uint32_t max_nonterminals = 2;
  std::uint32_t min_gap = 1;
  bool unaligned_edges = false;
  std::vector<LineRange> phrase_lines;
  std::vector<LineRange> hierarchical_lines;

  template <class Visit>
  static void visit_settings(const Visit& visit) {
    using O = ExtractOptions;
    visit(Setting{&O::max_phrase, "max_phrase",
                  "greatest number of words in an initial phrase pair, on either side", 1, 100});
    visit(Setting{&O::max_symbols, "max_symbols",
                  "greatest number of source symbols in a rule with nonterminals", 2, 1000});
    visit(
        Setting{&O::max_nonterminals, "max_nonterminals", "greatest number of nonterminals in a rule", 0, 2});
    visit(Setting{&O::min_gap, "min_gap", "least number of source words that a nonterminal stands for", 1,
                  100});
    visit(Setting{&O::unaligned_edges, "unaligned_edges",
                  "let initial phrases begin and end with unaligned words"});
    visit(Setting{&O::phrase_lines, "phrase_lines",
                  "lines to take plain phrases from, such as 1-20000 (default: all)"});
    visit(Setting{&O::hierarchical_lines, "hierarchical_lines",
                  "lines to take rules with nonterminals from (default: all)"});
  }
};

// A discount replaces the count n of a rule by d(n). N(n) is the number of rules that occurred n times.
enum class Discount {
  kNone,
  // d(n) = (n + 1) N(n + 1) / N(n) where this is less than n, for n <= 10 (Good 1953).
  kGoodTuring,
  // d(n) = n - D with D = N(1) / (N(1) + 2 N(2)) (Ney et al. 1994). D is 0 if N(2) is 0, since D = 1 would
  // leave nothing of rules that occurred once.
  kAbsolute
};

template <>
inline constexpr std::array<std::string_view, 3> kNames<Discount>{"none", "good_turing", "absolute"};

struct ScoreOptions {
  Discount discount = Discount::kNone;
  std::uint64_t min_count = 1;
  std::uint64_t ttable_limit = 0;  // among rules with equal probability the first are kept
  std::string owner;
  std::uint32_t span_limit = 0;

  template <class Visit>
  static void visit_settings(const Visit& visit) {
    using O = ScoreOptions;
    visit(Setting{&O::discount, "discount", "discount of rule counts"});
    visit(Setting{&O::min_count, "min_count", "least count of a rule that is kept", 1});
    visit(Setting{&O::ttable_limit, "ttable_limit", "rules kept per source side, by p(e|f); 0: all"});
    visit(Setting{&O::owner, "owner", "name of the table (default: pt, pt1, ...)"});
    visit(Setting{&O::span_limit, "span_limit",
                  "greatest number of source words in a rule; 0: the decoder's limit"});
  }
};

}  // namespace hiero
