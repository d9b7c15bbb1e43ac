// The n-grams of a language model that consist of words of one sentence's rules, as a trie from the last word
// to the first. It tells how probable a word can become once the words before it are known.
//
// An n-gram is extended only by words that also extend the n-gram without its last word, since models have no
// n-gram without its first words. So few look-ups fail, and each is made once for a sentence.
//
// How to use: make one with all words; restrict() it when there are fewer.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hiero/lm/language_model.h"

namespace hiero {

class SentenceNgrams {
 public:
  SentenceNgrams(const LanguageModel& lm, std::vector<LmWord> words);

  // Tells whether the words form a context with a positive back-off weight, that is, one after which a word
  // may become more probable than after the last words of it.
  bool any_positive_backoff();
  // From now on, other words do not occur.
  void restrict(std::span<const LmWord> words);
  // Returns the words w of which the model has the bigram (w, word).
  std::vector<LmWord> before(LmWord word);
  // Returns the largest log probability of number i of a left state's n-grams after any words, minus what the
  // model expects of it.
  float excess(const ::lm::ngram::Left& left, unsigned i);

  std::uint64_t lm_queries() const { return queries_; }

 private:
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  // A longer n-gram that has one more word in front.
  struct Longer {
    LmWord word;
    float change;  // as in LeftExtension
    Id id;         // kNone if it cannot be extended
  };
  struct Ngram {
    std::uint64_t pointer;
    unsigned length;
    Id shorter;  // the n-gram without its last word
    std::vector<Longer> longer{};
    bool is_expanded = false;
    bool has_excess = false;
    float excess = 0;
  };

  Id find(std::uint64_t pointer, unsigned length, Id shorter);
  Id find(const ::lm::ngram::Left& left, unsigned i);
  void expand(Id id);
  void try_word(Id id, LmWord word, Id shorter);
  bool any_positive_backoff(Id id);
  float excess(Id id);

  const LanguageModel& lm_;
  std::vector<LmWord> words_;
  std::vector<std::uint8_t> has_;  // by word
  std::vector<Ngram> ngrams_;
  std::vector<std::unordered_map<std::uint64_t, Id>> ids_;  // by length, then pointer
  bool is_positive_ = false;                                // some back-off weight of what is expanded
  std::uint64_t queries_ = 0;
};

}  // namespace hiero
