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

// Takes rule occurrences by target side, source side and alignment, and passes on rules with their most
// frequent alignment and the total of their target side, to be sorted by source side.
class RuleSums {
 public:
  explicit RuleSums(RecordSorter& out) : out_(out) {}

  // `key` as RuleExtractor makes it.
  void add(Bytes key, const RuleCount& count) {
    const std::byte* const begin = key.data();
    const std::byte* const end = begin + key.size();
    const std::byte* const source = skip_symbols(begin, end);
    const std::byte* const links = skip_symbols(source, end);
    if (!equal({begin, source}, target_)) {
      close_target();
      target_.assign(begin, source);
    }
    if (rules_.empty() || !equal({source, links}, source_of(rules_.back()))) open_rule({source, links});
    Rule& rule = rules_.back();
    rule.count.shares = sum_of_shares(rule.count.shares, count.shares);
    rule.count.occurrences += count.occurrences;
    total_ = sum_of_shares(total_, count.shares);
    // Of equally frequent alignments the first in byte order stays.
    if (count.occurrences > rule.best) {
      rule.best = count.occurrences;
      bytes_.resize(rule.links_at);
      bytes_.insert(bytes_.end(), links, end);
    }
  }

  void close_target() {
    for (std::size_t r = 0; r < rules_.size(); ++r) pass_on(r);
    rules_.clear();
    bytes_.clear();
    total_ = 0;
  }

 private:
  struct Rule {
    std::size_t source_at;  // into bytes_
    std::size_t links_at;
    RuleCount count;
    std::uint64_t best;  // occurrences with the alignment kept
  };

  Bytes source_of(const Rule& rule) const {
    return {bytes_.data() + rule.source_at, rule.links_at - rule.source_at};
  }

  void open_rule(Bytes source) {
    const std::size_t at = bytes_.size();
    bytes_.insert(bytes_.end(), source.begin(), source.end());
    rules_.push_back({at, bytes_.size(), {0, 0}, 0});
  }

  void pass_on(std::size_t r) {
    const Rule& rule = rules_[r];
    const std::size_t end = r + 1 < rules_.size() ? rules_[r + 1].source_at : bytes_.size();
    const Bytes source = source_of(rule);
    key_.assign(source.begin(), source.end());
    key_.insert(key_.end(), target_.begin(), target_.end());
    value_.clear();
    put_varint(value_, rule.count.shares);
    put_varint(value_, rule.count.occurrences);
    put_varint(value_, total_);
    value_.insert(value_.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(rule.links_at),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(end));
    out_.add(key_, value_);
  }

  RecordSorter& out_;
  std::vector<std::byte> target_;
  std::vector<std::byte> bytes_;  // source side and links of each of rules_
  std::vector<Rule> rules_;       // of the current target side
  std::uint64_t total_ = 0;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
};

CodedRule decode(Bytes key, Bytes value) {
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

}  // namespace

ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, const ExtractProgress& progress) {
  constexpr std::uint64_t kPauseStep = 1u << 14;
  CountsWriter out(output);  // first, so that a folder that cannot be written is found out at once
  Vocab words;
  Lexicon lexicon;
  RuleExtractor extractor(options);
  ExtractStatistics statistics;
  // Both sorters are full while the one is emptied into the other.
  RecordSorter by_target(memory / 2, folder_of(output), RuleExtractor::add_counts);
  RecordSorter by_source(memory / 2, folder_of(output));

  AlignedPairReader reader(source, target, links, words);
  AlignedPair pair;
  while (reader.next(pair)) {
    extractor.extract(pair, by_target);
    lexicon.add(pair);
    if (++statistics.pairs % 256 == 0) progress(statistics.pairs, by_target.size());
  }
  if (statistics.pairs == 0) throw FormatError(source.name() + ": no sentence pairs");
  statistics.phrases = extractor.phrase_count();
  statistics.occurrences = by_target.size();
  statistics.distortion = extractor.distortion();

  by_target.finish();
  RuleSums sums(by_source);
  std::uint64_t seen = 0;
  const auto pause = [&] {
    if (seen++ % kPauseStep == 0) progress(statistics.pairs, statistics.occurrences);
  };
  by_target.scan([&](Bytes key, Bytes value) {
    RuleCount count{};
    std::memcpy(&count, value.data(), sizeof count);
    sums.add(key, count);
    pause();
  });
  sums.close_target();
  by_target.release();

  by_source.finish();
  out.words(words);
  out.lexicon(lexicon);
  by_source.scan([&](Bytes key, Bytes value) {
    const CodedRule rule = decode(key, value);
    ++statistics.rules;
    if (rule.count.occurrences <= statistics.rules_seen.size())
      ++statistics.rules_seen[rule.count.occurrences - 1];
    out.rule(rule);
    pause();
  });
  out.commit(statistics);
  return statistics;
}

}  // namespace hiero
