// Fisher's exact test of rules (Johnson et al. 2007). The source side occurs in C(f) of N sentence pairs, the
// target side in C(e), and both in C(f, e). The test returns
//
//   -log p = -log of the probability that both occur in C(f, e) pairs or more by chance.
//
// A side with nonterminals occurs in a sentence that has its words in order, with at least one word in the
// place of each nonterminal.
//
// How to use:
//   1. IndexedBitext bitext(source, target, words, pairs);
//   2. SignificanceTest test(bitext);                  // in every thread
//   3. test.set_source(source_side);
//   4. test.minus_log_p(target_side);                  // for every rule with this source side
// Sort rules by source side: set_source() searches the bitext.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hiero/base/line_reader.h"
#include "hiero/base/vocab.h"
#include "hiero/grammar/pattern_index.h"

namespace hiero {

// A table of log n!. Threads may share it; std::lgamma() writes to a variable that they share, and is slower.
class LogFactorials {
 public:
  // Holds those of 0 to `most`.
  explicit LogFactorials(std::uint64_t most);

  double operator()(std::uint64_t n) const { return values_[n]; }

 private:
  std::vector<double> values_;
};

// Returns -log of the sum over k >= both of C(source, k) C(pairs - source, target - k) / C(pairs, target),
// where C is the binomial coefficient, and the arguments are C(f, e), C(f), C(e) and N: the first is at most
// each of the next two, and these at most N, to which the table goes.
double fisher_minus_log_p(std::uint64_t both, std::uint64_t source, std::uint64_t target, std::uint64_t pairs,
                          const LogFactorials& log_factorial);

// The bitext that rules come from, in which several threads search at once.
class IndexedBitext {
 public:
  // Reads a bitext without pairs with a blank side. `words` is the vocabulary of the rules. Throws
  // FormatError for files with different numbers of lines, and unless there are `pairs` pairs.
  IndexedBitext(LineReader& source, LineReader& target, Vocab& words, std::uint64_t pairs);

  std::uint64_t pairs() const { return source_.size(); }
  const PatternIndex& source() const { return source_; }
  const PatternIndex& target() const { return target_; }
  // Returns the sentences of an index that have the rarest word of a side.
  std::span<const std::uint32_t> candidates(const PatternIndex& index, std::span<const Symbol> side) const;
  const LogFactorials& log_factorials() const { return log_factorials_; }
  // Returns C(e). It is remembered for all threads.
  std::uint64_t count_target(std::span<const Symbol> target);

 private:
  PatternIndex source_;
  PatternIndex target_;
  LogFactorials log_factorials_{0};
  std::vector<std::uint32_t> all_sentences_;
  std::mutex mutex_;                                              // of target_counts_
  std::unordered_map<std::string, std::uint64_t> target_counts_;  // C(e)
};

class SignificanceTest {
 public:
  explicit SignificanceTest(IndexedBitext& bitext) : bitext_(bitext), has_source_(bitext.pairs()) {}

  // Sets the source side for the following calls of minus_log_p().
  void set_source(std::span<const Symbol> source);
  double minus_log_p(std::span<const Symbol> target) const;

 private:
  IndexedBitext& bitext_;
  std::vector<std::uint32_t> source_sentences_;  // the sentences with the source side
  std::vector<char> has_source_;                 // by sentence: whether it has the source side
};

}  // namespace hiero
