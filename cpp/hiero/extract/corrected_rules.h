// The rules of corrected translations, counted as the corrections come, beside what a training counted: its
// word translation counts, and the counts that its rule table has features of.
//
// How to use: CorrectedRules rules(words, table, options);
//   rules.add(source, target, links);   // each correction
//   rules.rules_for(sentence);          // those that may apply to a sentence, with their counts
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiero/extract/counts_file.h"
#include "hiero/extract/lexical_weights.h"
#include "hiero/extract/rule_extractor.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

// How often a training saw a rule, by the features of its table: 0 for a rule that the table does not have.
struct TrainedCount {
  double count = 0;               // sum of shares of initial phrase pairs
  std::uint64_t occurrences = 0;  // 0, 1, or 2 for more
  double target_count = 0;        // of all rules with its target side
};

// A rule with what was counted in corrections and in the training, and its lexical weights by the word
// translation counts of both.
struct CountedRule {
  std::vector<std::string> source;  // tokens of rule text
  std::vector<std::string> target;
  std::vector<AlignmentLink>
      links;  // the most frequent ones; of equally frequent ones the first in byte order
  RuleCount count;
  std::uint64_t source_shares;  // of all rules with this source side
  std::uint64_t target_shares;  // of all rules with this target side
  LexicalWeights lexical;
  TrainedCount trained;
  double trained_source_count;  // of all rules of the training with this source side
};

// Reads counts off the features of the rules that a training scored.
class TrainedRules {
 public:
  explicit TrainedRules(std::shared_ptr<const RuleTable> table);

  // Returns the node of a source side, or kNoNode.
  NodeId find(std::span<const Symbol> source, const Vocab& words) const;
  // Returns the sum of the counts of all rules of a node.
  double source_count(NodeId node) const;
  TrainedCount count(NodeId node, std::span<const Symbol> target, const Vocab& words) const;

 private:
  double feature(RuleId rule, std::size_t which) const;

  std::shared_ptr<const RuleTable> table_;
  Symbol nonterminal_ = 0;
  // Places of the dense features PhraseFE, PhraseEF, RuleCount and Singleton; none if the table lacks one.
  std::optional<std::array<std::size_t, 4>> features_;
};

class CorrectedRules {
 public:
  // Of `words`, only the words and their counts are read. Throws std::invalid_argument for options out of
  // range.
  CorrectedRules(std::shared_ptr<const CountsFile> words, std::shared_ptr<const RuleTable> table,
                 const ExtractOptions& options);
  CorrectedRules(const CorrectedRules&) = delete;
  CorrectedRules& operator=(const CorrectedRules&) = delete;

  // Extracts the rules of a pair as extraction from files does. Throws std::out_of_range for links that point
  // beyond the pair.
  void add(std::span<const std::string> source, std::span<const std::string> target,
           std::vector<AlignmentLink> links);

  // Returns the rules all of whose source words are in a sentence. Their order depends on what was added and
  // on the sentence.
  std::vector<CountedRule> rules_for(std::span<const std::string> sentence) const;

  // The number of different rules.
  std::size_t size() const { return size_; }

 private:
  struct Target {
    std::vector<std::byte> code;
    RuleCount count;
    TrainedCount trained;
    std::vector<std::pair<std::string, std::uint64_t>> links;  // links as bytes, and their occurrences
  };
  struct Source {
    std::vector<std::byte> code;
    std::vector<WordId> words;
    NodeId node;  // in the table of the training
    double trained_count;
    std::uint64_t shares = 0;
    std::vector<Target> targets;
  };

  void count(Bytes key, std::size_t target_size, const RuleCount& count);
  Source& source_of(Bytes code);
  CountedRule counted(const Source& source, const Target& target, LexicalScorer& lexical) const;

  std::shared_ptr<const CountsFile> trained_words_;
  TrainedRules trained_rules_;
  RuleExtractor extractor_;
  Vocab words_;      // those of the training, and further ones
  Lexicon lexicon_;  // on top of that of the training
  std::vector<Source> sources_;
  std::unordered_map<std::string, std::size_t> by_code_;          // places in sources_
  std::unordered_map<WordId, std::vector<std::size_t>> by_word_;  // by the first word of a source side
  std::unordered_map<std::string, std::uint64_t> target_shares_;
  std::size_t size_ = 0;
};

}  // namespace hiero
