#include "hiero/extract/extraction.h"

#include <cstring>

#include "hiero/base/error.h"
#include "hiero/base/output_file.h"
#include "hiero/base/record_sorter.h"
#include "hiero/base/varint.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// Sums rule occurrences, which come sorted by target side, source side and alignment. Adds each rule, with
// its most frequent alignment and the sum of its target side, to a sorter by source side.
class RuleSums {
 public:
  explicit RuleSums(RecordSorter& by_source) : by_source_(by_source) {}

  // `key` is that of RuleExtractor::extract().
  void add(Bytes key, const RuleCount& count) {
    const std::byte* const begin = key.data();
    const std::byte* const end = begin + key.size();
    const std::byte* const source = skip_symbols(begin, end);
    const std::byte* const links = skip_symbols(source, end);
    if (!equal({begin, source}, target_)) {
      close_target();
      target_.assign(begin, source);
    }
    if (rules_.empty() || !equal({source, links}, source_bytes(rules_.back()))) open_rule({source, links});
    Rule& rule = rules_.back();
    rule.count.shares = sum_of_shares(rule.count.shares, count.shares);
    rule.count.occurrences += count.occurrences;
    target_shares_ = sum_of_shares(target_shares_, count.shares);
    // Among equally frequent alignments the first in byte order is kept.
    if (count.occurrences > rule.alignment_count) {
      rule.alignment_count = count.occurrences;
      bytes_.resize(rule.links_at);
      bytes_.insert(bytes_.end(), links, end);
    }
  }

  void close_target() {
    for (std::size_t r = 0; r < rules_.size(); ++r) add_to_sorter(r);
    rules_.clear();
    bytes_.clear();
    target_shares_ = 0;
  }

 private:
  struct Rule {
    std::size_t source_at;  // start of its source side in bytes_
    std::size_t links_at;   // start of its links in bytes_
    RuleCount count;
    std::uint64_t alignment_count;  // occurrences with these links
  };

  Bytes source_bytes(const Rule& rule) const {
    return {bytes_.data() + rule.source_at, rule.links_at - rule.source_at};
  }

  void open_rule(Bytes source) {
    const std::size_t at = bytes_.size();
    bytes_.insert(bytes_.end(), source.begin(), source.end());
    rules_.push_back({at, bytes_.size(), {0, 0}, 0});
  }

  void add_to_sorter(std::size_t r) {
    const Rule& rule = rules_[r];
    const std::size_t end = r + 1 < rules_.size() ? rules_[r + 1].source_at : bytes_.size();
    const Bytes source = source_bytes(rule);
    key_.assign(source.begin(), source.end());
    key_.insert(key_.end(), target_.begin(), target_.end());
    value_.clear();
    put_varint(value_, rule.count.shares);
    put_varint(value_, rule.count.occurrences);
    put_varint(value_, target_shares_);
    value_.insert(value_.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(rule.links_at),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(end));
    by_source_.add(key_, value_);
  }

  RecordSorter& by_source_;
  std::vector<std::byte> target_;    // the current target side
  std::vector<Rule> rules_;          // the rules with this target side
  std::vector<std::byte> bytes_;     // source side and links of each of these rules
  std::uint64_t target_shares_ = 0;  // sum over these rules
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
};

// Decodes a record of RuleSums.
CodedRule decode_rule(Bytes key, Bytes value) {
  const std::byte* const target = skip_symbols(key.data(), key.data() + key.size());
  const std::byte* at = value.data();
  CodedRule rule{};
  rule.source = {key.data(), target};
  rule.target = {target, key.data() + key.size()};
  rule.count.shares = get_varint(at);
  rule.count.occurrences = get_varint(at);
  rule.target_shares = get_varint(at);
  rule.links = {at, value.data() + value.size()};
  return rule;
}

// Adds all rule occurrences to a sorter by target side, and all links to the lexicon.
ExtractStatistics extract_occurrences(AlignedPairReader& reader, const ExtractOptions& options,
                                      Lexicon& lexicon, RecordSorter& by_target,
                                      const ExtractProgress& progress) {
  constexpr std::uint64_t kProgressInterval = 256;  // sentence pairs
  RuleExtractor extractor(options);
  ExtractStatistics statistics;
  AlignedPair pair;
  while (reader.next(pair)) {
    extractor.extract(pair, by_target);
    lexicon.add(pair);
    if (++statistics.pairs % kProgressInterval == 0) progress(statistics.pairs, by_target.size());
  }
  statistics.phrases = extractor.phrase_count();
  statistics.occurrences = by_target.size();
  statistics.distortion = extractor.distortion();
  return statistics;
}

// Sums the occurrences and adds the rules to a sorter by source side. Calls count_record() for every record.
template <class CountRecord>
void sum_occurrences(RecordSorter& by_target, RecordSorter& by_source, const CountRecord& count_record) {
  by_target.finish();
  RuleSums sums(by_source);
  by_target.scan([&](Bytes key, Bytes value) {
    RuleCount count{};
    std::memcpy(&count, value.data(), sizeof count);
    sums.add(key, count);
    count_record();
  });
  sums.close_target();
}

}  // namespace

ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, const ExtractProgress& progress) {
  constexpr std::uint64_t kProgressInterval = 1u << 14;  // records
  CountsWriter out(output);  // opened first, so that an unwritable folder is an error before any work
  Vocab words;
  Lexicon lexicon;
  // Both sorters are full while one is emptied into the other.
  RecordSorter by_target(memory / 2, folder_of(output), RuleExtractor::add_counts);
  RecordSorter by_source(memory / 2, folder_of(output));

  AlignedPairReader reader(source, target, links, words);
  ExtractStatistics statistics = extract_occurrences(reader, options, lexicon, by_target, progress);
  if (statistics.pairs == 0) throw FormatError(source.name() + ": no sentence pairs");
  std::uint64_t records = 0;
  const auto count_record = [&] {
    if (records++ % kProgressInterval == 0) progress(statistics.pairs, statistics.occurrences);
  };
  sum_occurrences(by_target, by_source, count_record);
  by_target.release();

  by_source.finish();
  out.words(words);
  out.lexicon(lexicon);
  by_source.scan([&](Bytes key, Bytes value) {
    const CodedRule rule = decode_rule(key, value);
    ++statistics.rules;
    if (rule.count.occurrences <= statistics.rules_seen.size())
      ++statistics.rules_seen[rule.count.occurrences - 1];
    out.rule(rule);
    count_record();
  });
  out.commit(statistics);
  return statistics;
}

}  // namespace hiero
