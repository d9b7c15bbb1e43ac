// Log odds that a sentence pair is a translation, by the word links of all other pairs.
//
// The words of a translation are more likely given the source sentence than without it. Given the source
// words F, a target word e has the probability of Model 1 (Brown et al. 1993), with counts c of links,
//
//   p(e | F) = (p(e) + sum of p(e | f) over f in F) / (|F| + 1),   p(e | f) = (c(f, e) + p(e)) / (c(f) + 1)
//
// where p(e) is the share of e in all target words. The logs of p(e | F) / p(e), summed over the target
// words, and the same of the source words given the target words, have the log odds of the pair as their
// mean. They are above 0 for a translation, and below 0 for sentences that have nothing to do with each
// other. All counts leave out the pair itself; a word that is in no other pair tells nothing, and is skipped.
//
// How to use: LinkLexicon lexicon; lexicon.add("das haus", "the house", "0-0 1-1") for all pairs; then
//   lexicon.log_odds("das haus", "the house", "0-0 1-1").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hiero/align/link_counts.h"
#include "hiero/base/alignment_link.h"
#include "hiero/base/symbol.h"
#include "hiero/base/vocab.h"

namespace hiero {

class LinkLexicon {
 public:
  LinkLexicon() = default;
  LinkLexicon(const LinkLexicon&) = delete;
  LinkLexicon& operator=(const LinkLexicon&) = delete;

  // Adds a pair of lines of tokens with a line of their links, such as 0-0 1-2. Throws FormatError for
  // malformed links and for those that point beyond the pair, and counts nothing then.
  void add(std::string_view source, std::string_view target, std::string_view links);
  // Returns the log odds of a pair that was added, by the counts of all other pairs. Throws as add does, and
  // std::invalid_argument for a pair that cannot have been added.
  double log_odds(std::string_view source, std::string_view target, std::string_view links);

 private:
  struct WordCount {
    std::uint64_t tokens = 0;
    std::uint64_t links = 0;
  };
  // What is counted of the words of one side.
  struct Side {
    Vocab vocabulary;
    std::vector<WordCount> counts;  // by word
    std::uint64_t tokens = 0;
  };
  // A word of the pair at hand.
  struct Word {
    WordId id = 0;
    std::uint32_t tokens = 0;  // in this sentence
    std::uint32_t links = 0;   // in this pair
    double rate = 0;           // 1 / (c(f) + 1), by the counts of other pairs
    double sum = 0;            // of c(f, e) / (c(f) + 1) over the words of the other side
  };
  // One side of the pair at hand.
  struct Sentence {
    std::vector<WordId> tokens;
    std::vector<Word> words;           // different ones, by id
    std::vector<std::uint32_t> which;  // of these, at each position
  };

  static void intern(std::string_view line, Side& side, std::vector<WordId>& tokens);
  static void find(std::string_view line, const Side& side, std::vector<WordId>& tokens);
  static void gather_words(Sentence& sentence);
  static void compute_rates(const Side& side, Sentence& sentence);
  void sum_links();
  static double sum_of_logs(const Side& side, const Sentence& sentence, const Sentence& other);

  Side source_;
  Side target_;
  LinkCounts links_{0};
  // The pair at hand: memory that the next one uses again.
  Sentence source_sentence_;
  Sentence target_sentence_;
  std::vector<AlignmentLink> pair_links_;
};

}  // namespace hiero
