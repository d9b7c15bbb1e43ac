// Fisher's exact test of rules (Johnson et al. 2007): how unlikely it is that source and target side, which
// C(f) and C(e) of N sentence pairs hold, meet in C(f, e) of them or more by chance. Sides with
// nonterminals are held by sentences in which their words occur in order with a word at least in each gap.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiero/base/line_reader.h"
#include "hiero/base/vocab.h"
#include "hiero/grammar/pattern_index.h"

namespace hiero {

// -log of sum over k >= both of C(source, k) C(pairs - source, target - k) / C(pairs, target).
double fisher_minus_log_p(std::uint64_t both, std::uint64_t source, std::uint64_t target,
                          std::uint64_t pairs);

class SignificanceTest {
 public:
  // Reads the bitext that the rules come from, words numbered as in `words`; pairs with a blank side do not
  // count. Throws FormatError for files of different length.
  SignificanceTest(LineReader& source, LineReader& target, Vocab& words);

  std::uint64_t pairs() const { return source_.size(); }
  // Chooses the source side that the following questions are about.
  void set_source(std::span<const Symbol> source);
  double minus_log_p(std::span<const Symbol> target);

 private:
  PatternIndex source_;
  PatternIndex target_;
  std::vector<std::uint32_t> held_;                               // sentences that hold the source side
  std::vector<char> holds_;                                       // the same by sentence
  std::vector<std::uint32_t> all_;                                // every sentence
  std::unordered_map<std::string, std::uint64_t> target_counts_;  // of target sides that took long to count
};

}  // namespace hiero
