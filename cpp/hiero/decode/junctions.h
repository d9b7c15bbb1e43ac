// Upper bounds on what language models add where runs of words meet, for exact search (exact.h). A run is the
// words of a rule's target side between two nonterminals; a translation is a chain of runs from <s> to </s>.
// The score of a run's first words depends on the runs before it. Its score after a given run is known but
// for words further left; for these, the bound is the largest probability of an n-gram that ends in the known
// words and begins with words of the sentence's rules. Where several runs are possible before, the bound is
//   max over ends e of runs: score(run after e) - potential(e),
// and each run adds the potential of its own end. In a chain the potentials add up to 0, so that all
// potentials give a bound; relaxation.h looks for those that give the least (Rush and Collins 2011, "Exact
// Decoding of Syntactic Translation Models through Lagrangian Relaxation").
//
// The bounds hold if no language model has a negative weight, and no context of words of the sentence has a
// positive back-off weight, after which a longer context could make a word more probable. A sentence in which
// more than 16 million pairs of runs could meet has no bounds: they would take minutes and gigabytes. Check
// are_sound().
//
// How to use: add() the words that rules may put out, and number the starts and ends of runs. prepare() then
// makes the bounds; after each change of potentials call update(), then best() for each start.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiero/decode/sentence_context.h"
#include "hiero/decode/sentence_ngrams.h"

namespace hiero {

using StartId = std::uint32_t;
using EndId = std::uint32_t;

class Junctions {
 public:
  explicit Junctions(const SentenceContext& context);

  // Adds a word of one LM that translations may have.
  void add(std::size_t lm, LmWord word) { words_[lm].push_back(word); }
  // Returns the numbers of a run's start and end; its states are one per LM.
  StartId start(const ChartState* states);
  EndId end(const ChartState* states);
  // Forgets all words and which ends are possible, but not their numbers and potentials.
  void restart();
  // Lets a run end so.
  void allow(EndId end) { allowed_[end] = 1; }
  // To be called when words and ends are complete.
  void prepare();

  bool are_sound() const { return sound_; }
  std::vector<double>& potentials() { return potentials_; }
  const std::vector<double>& potentials() const { return potentials_; }
  void update();

  struct Best {
    double score;
    EndId end;
  };
  // The best end before a start, with its score minus its potential.
  Best best(StartId start);

  // A bound on what a start adds to the score of its words after an end.
  double pair(EndId end, StartId start);

  // A bound on what words before a string add to its score, beyond what they add to its first run's, which
  // has this start.
  double excess(StartId start, const ChartState* states);

  std::uint64_t lm_queries() const;

  // Whether there is no word in a string with these states.
  bool is_empty(const ChartState* states) const;

 private:
  struct Pair {
    EndId end;
    float score;
  };

  void find_ngrams();
  float score_pair(EndId end, StartId start);
  void find_pairs(StartId start);

  const SentenceContext& context_;
  std::size_t lms_;
  bool sound_ = true;
  std::uint64_t queries_ = 0;
  std::vector<std::vector<LmWord>> words_;                               // by LM
  std::vector<SentenceNgrams> ngrams_;                                   // by LM
  std::vector<std::unordered_map<LmWord, std::vector<EndId>>> by_last_;  // by LM, then an end's last word

  std::unordered_map<std::string, StartId> start_ids_;
  std::unordered_map<std::string, EndId> end_ids_;
  std::vector<ChartState> starts_;  // by start, then LM; without words on the right
  std::vector<ChartState> ends_;    // by end, then LM
  std::vector<double> potentials_;  // by end
  double least_potential_ = 0;      // of the allowed ends
  std::vector<double> backoffs_;    // by end: sum of its back-off weights
  std::vector<std::uint8_t> allowed_;
  std::vector<EndId> order_;  // allowed ends, by backoffs - potentials, the best first
  std::vector<double>
      alone_;  // by start: change of score where no n-gram joins it to an end, but for back-off
  std::vector<std::vector<Pair>> pairs_;   // by start, sorted by end: those that an n-gram joins
  std::vector<std::vector<Pair>> ranked_;  // the same, sorted by score
  std::vector<std::uint8_t> has_pairs_;    // by start
  std::size_t pair_count_ = 0;             // of all starts, since restart()
};

}  // namespace hiero
