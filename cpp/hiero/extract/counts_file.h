// Counted rules in a file: what extraction hands to scoring. Rules stand by source side, then target side,
// each with its counts and its most frequent alignment; vocabulary, word translation counts and statistics
// come with them. Checksummed; it appears when it is whole.
//
//   CountsHeader
//   words           varint length and bytes each
//   lexicon         varints: source, target (word id + 1, or 0 for NULL), count
//   rules           source symbols (symbol_code.h; none: as the rule before), target symbols, varint number
//   of
//                   bytes of what follows, varints shares, occurrences, shares of the target side, then a
//                   byte each for source and target position of every link
//
// How to write: CountsWriter out(path); out.words(...); out.lexicon(...); out.rule(...) in order;
//   out.commit(statistics). How to read: CountsFile file(path); file.read_rules(visit).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
  std::uint64_t phrases = 0;      // initial phrase occurrences
  std::uint64_t occurrences = 0;  // of rules
  std::uint64_t rules = 0;
  DistortionCounts distortion;
  // rules_seen[n]: rules of n + 1 occurrences.
  std::array<std::uint64_t, 16> rules_seen{};
};

// A rule in coded form; see above.
struct CodedRule {
  Bytes source;  // with its end mark
  Bytes target;  // with its end mark
  Bytes links;
  RuleCount count;
  std::uint64_t target_shares;  // of all rules with this target side
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
  std::uint64_t sum;  // of all that follows the header, then of the header before this
};

class CountsWriter {
 public:
  explicit CountsWriter(const std::string& path) : file_(path) {}

  void words(const Vocab& words);
  void lexicon(const Lexicon& lexicon);
  void rule(const CodedRule& rule);
  void commit(ExtractStatistics statistics);

 private:
  void flush();
  std::uint64_t position() const { return sizeof(CountsHeader) + written_ + buffer_.size(); }

  OutputFile file_;
  CountsHeader header_{};
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t sum_ = 0;
  std::vector<std::byte> source_;
  std::vector<std::byte> tail_;
};

class CountsFile {
 public:
  // Checks the whole file. Throws FileError, or FormatError for a file that is no such file, of another
  // version, cut short or damaged.
  explicit CountsFile(const std::string& path);

  const ExtractStatistics& statistics() const { return header_.statistics; }
  Vocab words() const;
  Lexicon lexicon() const;
  // Visits the rules of each source side. Throws FormatError.
  void read_rules(const std::function<void(std::span<const CodedRule>)>& visit) const;
  // Throws the FormatError of a file whose contents make no sense.
  [[noreturn]] void damaged() const;

 private:
  CodedRule read_rule(const std::byte*& at, const std::byte* end) const;

  std::string path_;
  MappedFile file_;
  CountsHeader header_{};
};

}  // namespace hiero
