// The file of counted rules that extraction writes and scoring reads: the vocabulary, word translation
// counts, and rules sorted by source side and target side, each with its counts and its most frequent
// alignment. The file has checksums and is written in full or not at all.
//
//   CountsHeader
//   words           per word: varint length, bytes
//   lexicon         per word pair, varints: source, target (word id + 1, or 0 for NULL), count
//   rules           per rule: source symbols (symbol_code.h; none if the same as before), target symbols,
//                   varint number of the following bytes, varints shares, occurrences, shares of the target
//                   side, then one byte each for the source and target position of every link
//
// How to write:
//   1. CountsWriter out(path);
//   2. out.words(words); out.lexicon(lexicon);
//   3. CodedRules rules; rules.add(rule); ...;   // every rule, sorted; those of a source side together
//   4. out.rules(rules);                         // as often as needed
//   5. out.commit(statistics);
// How to read: CountsFile file(path); RuleGroups groups(file); while (groups.next()) ... groups.rules() ...
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/mapped_file.h"
#include "hiero/base/output_file.h"
#include "hiero/base/vocab.h"
#include "hiero/extract/lexicon.h"
#include "hiero/extract/rule_extractor.h"

namespace hiero {

struct ExtractStatistics {
  std::uint64_t pairs = 0;        // sentence pairs
  std::uint64_t phrases = 0;      // occurrences of initial phrase pairs
  std::uint64_t occurrences = 0;  // occurrences of rules
  std::uint64_t rules = 0;        // different rules
  DistortionCounts distortion;
  // rules_seen[n] is the number of rules that occurred n + 1 times.
  std::array<std::uint64_t, 16> rules_seen{};
};

// A rule with its sides and links in the encoding above.
struct CodedRule {
  Bytes source;  // with its end mark
  Bytes target;  // with its end mark
  Bytes links;
  RuleCount count;
  std::uint64_t target_shares;  // sum of the shares of all rules with this target side
};

struct CountsHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t length;
  std::uint64_t words;
  std::uint64_t lexicon;
  std::uint64_t lexicon_at;
  std::uint64_t rules_at;
  ExtractStatistics statistics;
  std::uint64_t sum;  // checksum of all bytes after the header, then of the header fields before this one
};

// Rules as they are in the file.
class CodedRules {
 public:
  void add(const CodedRule& rule);
  void clear();

 private:
  friend class CountsWriter;

  std::vector<std::byte> bytes_;
  std::vector<std::byte> source_;  // the source side of the last rule
  std::vector<std::byte> tail_;    // counts and links of a rule
};

class CountsWriter {
 public:
  explicit CountsWriter(const std::string& path) : file_(path) {}

  void words(const Vocab& words);
  void lexicon(const Lexicon& lexicon);
  void rules(const CodedRules& rules);
  void commit(ExtractStatistics statistics);

 private:
  void flush();
  std::uint64_t position() const { return sizeof(CountsHeader) + written_ + buffer_.size(); }

  OutputFile file_;
  CountsHeader header_{};
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t sum_ = 0;
};

class CountsFile {
 public:
  // Opens a file and checks all of it. Throws FileError, or FormatError for a file of another kind or
  // version, or one that is truncated or damaged.
  explicit CountsFile(const std::string& path);

  const ExtractStatistics& statistics() const { return header_.statistics; }
  Vocab words() const;
  Lexicon lexicon() const;
  // Returns a coded side as tokens of rule text, with nonterminals [X,1], [X,2]. Throws FormatError for words
  // that are not in `words`.
  std::vector<std::string> source_tokens(Bytes code, const Vocab& words) const;
  std::vector<std::string> target_tokens(Bytes code, const Vocab& words) const;
  // Throws the FormatError for a file whose contents contradict each other.
  [[noreturn]] void throw_damaged() const;

 private:
  friend class RuleGroups;

  CodedRule read_rule(const std::byte*& at, const std::byte* end) const;
  std::vector<std::string> side_tokens(Bytes code, const Vocab& words, bool is_source) const;

  std::string path_;
  MappedFile file_;
  CountsHeader header_{};
};

// Reads the rules of one source side after the other. The file must outlive it.
class RuleGroups {
 public:
  explicit RuleGroups(const CountsFile& file);

  // Goes on to the next source side. Returns false at the end. Throws FormatError.
  bool next();
  // The rules of the source side, whose bytes are valid as long as the file.
  std::span<const CodedRule> rules() const { return rules_; }

 private:
  const CountsFile& file_;
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* released_;  // up to where pages were given back
  std::vector<CodedRule> rules_;
};

}  // namespace hiero
