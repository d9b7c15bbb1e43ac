// What is extracted; the defaults are those of Chiang (2007), section 3.2.
#pragma once

#include <cstdint>
#include <vector>

namespace hiero {

// Lines first .. last of a bitext, from 1.
struct LineRange {
  std::uint64_t first;
  std::uint64_t last;
};

struct ExtractOptions {
  // Words on either side of an initial phrase pair; at most 100.
  std::uint32_t max_phrase = 10;
  // Symbols on the source side of a rule with nonterminals.
  std::uint32_t max_symbols = 5;
  // Nonterminals of a rule, at most 2.
  std::uint32_t max_nonterminals = 2;
  // Source words that a nonterminal stands for, at least.
  std::uint32_t min_gap = 1;
  // Initial phrase pairs may begin and end with unaligned words.
  bool unaligned_edges = false;
  // Where rules without and with nonterminals are taken from; empty: everywhere.
  std::vector<LineRange> phrase_lines;
  std::vector<LineRange> hierarchical_lines;
};

}  // namespace hiero
