// A facade of KenLM for decoding. A virtual call does a whole piece of scoring, never a single n-gram. All
// log probabilities are natural logs; those of KenLM are base 10.
//
// States are those of KenLM (lm/state.hh): a ChartState holds the words at both ends of a string whose scores
// depend on words outside; its left part points into the model.
//
// How to score a rule at once:
//   1. score_rule() for each rule, bottom up, and score_goal() for the complete translation.
// How to score with partial states (Heafield et al. 2013, "Grouping Language Model Boundary Words"):
//   1. score_terminals() scores a run of words of a target side without context, or after <s>.
//   2. reveal_left() and reveal_right() reveal words of a neighbouring constituent, and return the change of
//   score.
//   3. join() merges the states around a constituent when all its boundary words are revealed.
// Each function adds the number of its n-gram look-ups to `queries`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/symbol.h"
#include "lm/state.hh"

namespace hiero {

using ChartState = ::lm::ngram::ChartState;
using LmWord = ::lm::WordIndex;

// The factor from the logarithms in states, which are base 10, to natural ones.
inline constexpr float kNaturalLog10 = 2.302585093f;

struct BinaryOptions {
  // Whether to use a trie instead of hash tables: about half the size, and slower queries.
  bool trie = false;
  // Bits per probability and per backoff weight in a trie, 1 to 25; 0: 32-bit floats.
  unsigned quantize_bits = 0;
  // Bytes for sorting n-grams while a trie is built.
  std::size_t memory = std::size_t{1} << 30;
  // ARPA files of models of orders 1, 2, ... of the same text, one for each order below that of the model.
  // With them, hash tables have rest costs (rest_costs.h), by which search finds as good translations with
  // half the hypotheses.
  std::vector<std::string> lower_orders;
};

// An n-gram with one more word before it.
struct LeftExtension {
  bool found;    // whether the model has the longer n-gram
  bool extends;  // whether words further left matter
  // Natural log: the probability of the longer n-gram, or what the model expects of it if it extends, minus
  // what it expects of the n-gram.
  float change;
  float backoff;          // weight of the longer n-gram as a context, natural log; 0 for the longest ones
  std::uint64_t pointer;  // of the longer n-gram, if it extends
};

class LanguageModel {
 public:
  static constexpr LmWord kUnknown = 0;

  // Loads an ARPA file, plain or compressed, or a KenLM binary. Throws FileError or FormatError.
  static std::shared_ptr<const LanguageModel> load(const std::string& path);
  // Converts an ARPA file to a KenLM binary. Temporary files lie in the folder of `output`.
  // Throws FileError, FormatError, or std::invalid_argument for options that contradict each other.
  static void write_binary(const std::string& arpa, const std::string& output, const BinaryOptions& options);

  virtual ~LanguageModel() = default;
  const std::string& path() const { return path_; }
  const std::string& kind() const { return kind_; }
  // Returns a hash of the file.
  std::uint64_t fingerprint() const { return fingerprint_; }
  virtual unsigned order() const = 0;
  // Returns the id of a word, or kUnknown.
  virtual LmWord index(std::string_view word) const = 0;
  // Returns a number that is larger than all word ids.
  virtual LmWord word_bound() const = 0;

  // Returns the score of `words` without context, or after <s> if `after_bos`, and sets `state`.
  virtual float score_terminals(std::span<const LmWord> words, bool after_bos, ChartState& state,
                                std::uint64_t& queries) const = 0;
  // Returns the score that a target side adds to the scores of its tails, and sets `state`. `words` are LM
  // words, and nonterminal(i) stands for tails[i]. The context is unknown, or <s> if `after_bos`.
  virtual float score_rule(std::span<const Symbol> words, const ChartState* const* tails, bool after_bos,
                           ChartState& state, std::uint64_t& queries) const = 0;
  // Returns the score that </s> after a complete translation adds, and <s> before it unless `has_bos`.
  virtual float score_goal(const ChartState& tail, bool has_bos, std::uint64_t& queries) const = 0;

  // Extends an n-gram of a left state, number `length` - 1 of its pointers, by the word before it.
  virtual LeftExtension extend_left(std::uint64_t pointer, unsigned length, LmWord before,
                                    std::uint64_t& queries) const = 0;
  // Returns the probability of such an n-gram minus what the model expects of it, natural log: 0 without rest
  // costs.
  virtual float unrest(std::uint64_t pointer, unsigned length) const = 0;

  // Returns the natural log probability of a whole sentence, with <s> and </s>.
  double score_sentence(std::span<const std::string> tokens) const;

  // Reveal the left or right boundary words `reveal` of a constituent between the states `before` and
  // `after`, of which the first `seen` words were revealed before. `reveal_full` is the `full` flag of the
  // constituent's state. They return the change of score and update the state.
  virtual float reveal_left(ChartState& before, const ::lm::ngram::Left& reveal, unsigned char seen,
                            std::uint64_t& queries) const = 0;
  virtual float reveal_right(const ::lm::ngram::Right& reveal, unsigned char seen, bool reveal_full,
                             ChartState& after, std::uint64_t& queries) const = 0;
  // Merges the states around a constituent into `before`, which then describes the whole string. Returns the
  // change of score.
  virtual float join(ChartState& before, const ChartState& constituent, ChartState& after,
                     std::uint64_t& queries) const = 0;

 protected:
  std::string path_;
  std::string kind_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace hiero
