// A KenLM model behind a facade whose virtual calls each do a whole piece of scoring, so that no virtual
// call is made per n-gram. All log probabilities that leave this file are natural logs.
//
// States are KenLM's own (lm/state.hh): a ChartState holds the words at both ends of a string that
// words outside can still affect; its left part points into the model. Partial states (Heafield et al.
// 2013, "Grouping Language Model Boundary Words") reveal those words step by step:
//   1. score_terminals() scores a run of words of a rule's target side, context unknown (or <s>);
//   2. reveal_left/right() tell what a few more words of a neighbouring constituent change;
//   3. join() merges the states around a constituent once all its boundary words are revealed.
// `queries` counts the n-gram look-ups made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hiero/base/symbol.h"
#include "lm/state.hh"

namespace hiero {

using ChartState = ::lm::ngram::ChartState;
using LmWord = ::lm::WordIndex;

struct BinaryOptions {
  // A trie in place of hash tables: about half the size, slower to query.
  bool trie = false;
  // Bits of each probability and each backoff in a trie, 1 to 25; 0: exact.
  unsigned quantize_bits = 0;
  // Bytes for sorting n-grams while a trie is built.
  std::size_t memory = std::size_t{1} << 30;
};

class LanguageModel {
 public:
  static constexpr LmWord kUnknown = 0;

  // Loads ARPA (plain or compressed) or KenLM binary. Throws FileError or FormatError.
  static std::shared_ptr<const LanguageModel> load(const std::string& path);
  // Writes the ARPA file `arpa` as a binary. A trie's sorted parts are nameless files beside `output`.
  // Throws FileError, FormatError or, for options that contradict each other, std::invalid_argument.
  static void write_binary(const std::string& arpa, const std::string& output, const BinaryOptions& options);

  virtual ~LanguageModel() = default;
  const std::string& path() const { return path_; }
  const std::string& kind() const { return kind_; }
  // Of all that the file holds: tells models apart.
  std::uint64_t fingerprint() const { return fingerprint_; }
  virtual unsigned order() const = 0;
  virtual LmWord index(std::string_view word) const = 0;
  // Words are numbered below this.
  virtual LmWord word_bound() const = 0;

  // Scores `words` left to right into `state` with unknown context, or after <s> if `after_bos`.
  virtual float score_terminals(std::span<const LmWord> words, bool after_bos, ChartState& state,
                                std::uint64_t& queries) const = 0;
  // Scores one target side, after <s> if `after_bos`: words are LM words, nonterminal(i) stands for
  // tails[i]. The result is what this rule adds to the scores of its tails.
  virtual float score_rule(std::span<const Symbol> words, const ChartState* const* tails, bool after_bos,
                           ChartState& state, std::uint64_t& queries) const = 0;
  // What </s> after (and, unless `has_bos`, <s> before) a complete translation adds.
  virtual float score_goal(const ChartState& tail, bool has_bos, std::uint64_t& queries) const = 0;

  // `before` and `after` are the states around a constituent of which `known` was revealed so far and
  // `reveal` is revealed now. The return is the change of score.
  virtual float reveal_left(ChartState& before, const ::lm::ngram::Left& reveal, unsigned char known,
                            std::uint64_t& queries) const = 0;
  virtual float reveal_right(const ::lm::ngram::Right& reveal, unsigned char known, bool full,
                             ChartState& after, std::uint64_t& queries) const = 0;
  virtual float join(ChartState& before, const ChartState& constituent, ChartState& after,
                     std::uint64_t& queries) const = 0;

 protected:
  std::string path_;
  std::string kind_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace hiero
