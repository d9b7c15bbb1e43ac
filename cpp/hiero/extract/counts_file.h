// The file of counted rules that extraction writes and scoring reads: the vocabulary, word translation
// counts, and rules sorted by source side and target side, each with its counts and its most frequent
// alignment. It is a file of parts (parts_file.h), each of which has all rules of its source sides:
//
//   part            per rule: source symbols (symbol_code.h; none if the same as before), target symbols,
//                   varint number of the following bytes, varints shares, occurrences, shares of the target
//                   side, then one byte each for the source and target position of every link
//   head            CountsHead
//
// How to write:
//   1. PartsWriter out(path, kRuleCounts);
//   2. CodedRules rules; rules.add(rule); ...;   // every rule of a part, sorted
//   3. out.append(rules.bytes()); out.end_part();
//   4. out.commit(encode_head({statistics, words, lexicon}));
// How to read: CountsFile file(path); RuleGroups groups(file); while (groups.next()) ... groups.rules() ...
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/cursor.h"
#include "hiero/base/parts_file.h"
#include "hiero/base/shard.h"
#include "hiero/base/vocab.h"
#include "hiero/extract/lexicon.h"
#include "hiero/extract/rule_extractor.h"

namespace hiero {

inline constexpr PartsKind kRuleCounts{
    {'H', 'I', 'E', 'R', 'O', 'C', 'T', '\n'}, 2, "rule counts", "extract again"};

struct ExtractStatistics {
  std::uint64_t pairs = 0;        // sentence pairs
  std::uint64_t phrases = 0;      // occurrences of initial phrase pairs
  std::uint64_t occurrences = 0;  // occurrences of rules
  std::uint64_t rules = 0;        // different rules
  DistortionCounts distortion;
  // rules_seen[n] is the number of rules that occurred n + 1 times.
  std::array<std::uint64_t, 16> rules_seen{};

  void add(const ExtractStatistics& other);
};

// What is known of rules besides their counts.
struct CountsHead {
  ExtractStatistics statistics;
  Vocab words;
  Lexicon lexicon;
};

// A head as bytes: the statistics; u64 number of words, and of entries of the lexicon; per word: varint
// length, bytes; per word pair, varints: source, target (word id + 1, or 0 for NULL), count.
std::vector<std::byte> encode_head(const CountsHead& head);
// Decodes a head, which begins at `in` and ends it. Calls `throw_damaged` for a damaged one.
CountsHead decode_head(Cursor in, const std::function<void()>& throw_damaged);

// Returns a coded side, whose words are in the vocabulary, as tokens of rule text.
std::vector<std::string> side_tokens(const Vocab& words, Bytes code, bool is_source);

// A rule with its sides and links in the encoding above.
struct CodedRule {
  Bytes source;  // with its end mark
  Bytes target;  // with its end mark
  Bytes links;
  RuleCount count;
  std::uint64_t target_shares;  // sum of the shares of all rules with this target side
};

// Rules as they are in a part of the file.
class CodedRules {
 public:
  void add(const CodedRule& rule);
  void clear();
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::byte> source_;  // the source side of the last rule
  std::vector<std::byte> tail_;    // counts and links of a rule
};

class CountsFile {
 public:
  // Opens a file and checks its head; rules are checked when they are read. Throws FileError, or FormatError
  // for a file of another kind or version, or one that is truncated or damaged.
  explicit CountsFile(const std::string& path);

  const ExtractStatistics& statistics() const { return head_.statistics; }
  const Vocab& words() const { return head_.words; }
  const Lexicon& lexicon() const { return head_.lexicon; }
  // Returns the number of parts.
  std::size_t size() const { return file_.size(); }
  // Returns a number that tells files of different contents apart.
  std::uint64_t sum() const { return file_.sum(); }
  // Returns a coded side as tokens of rule text, with nonterminals [X,1], [X,2]. Throws FormatError for words
  // that are not in the vocabulary.
  std::vector<std::string> source_tokens(Bytes code) const { return checked_tokens(code, true); }
  std::vector<std::string> target_tokens(Bytes code) const { return checked_tokens(code, false); }
  // Writes a file with the same head and no rules, in full or not at all. Throws FileError.
  void save_words(const std::string& path) const;
  // Throws the FormatError for a file whose contents contradict each other.
  [[noreturn]] void throw_damaged() const { file_.throw_damaged(); }

 private:
  friend class RuleGroups;

  CodedRule read_rule(const std::byte*& at, const std::byte* end) const;
  std::vector<std::string> checked_tokens(Bytes code, bool is_source) const;

  PartsFile file_;
  CountsHead head_;
};

// Reads the rules of one source side after the other: those of all parts, or of a shard of them. The file
// must outlive it.
class RuleGroups {
 public:
  explicit RuleGroups(const CountsFile& file, const Shard& shard = {});

  // Goes on to the next source side. Returns false at the end. Throws FormatError.
  bool next();
  // The rules of the source side, whose bytes are valid as long as the file.
  std::span<const CodedRule> rules() const { return rules_; }

 private:
  const CountsFile& file_;
  std::size_t part_, end_part_;  // the next part, and that behind the last one
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  const std::byte* released_ = nullptr;  // up to where pages were given back
  std::vector<CodedRule> rules_;
};

}  // namespace hiero
