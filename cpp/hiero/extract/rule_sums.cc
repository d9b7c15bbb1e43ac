#include "hiero/extract/rule_sums.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "hiero/base/ordered_map.h"
#include "hiero/base/parallel.h"
#include "hiero/base/varint.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Sums rule occurrences, which come sorted by target side, source side and alignment. Hands on each rule,
// with its most frequent alignment and the sum of its target side, as a record by source side.
class RuleSums {
 public:
  // The first `source_size` bytes of the key are the source side. The spans are valid until the call returns.
  using Add = std::function<void(Bytes key, std::size_t source_size, Bytes value)>;

  explicit RuleSums(Add add) : add_(std::move(add)) {}

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
    for (std::size_t r = 0; r < rules_.size(); ++r) put_rule(r);
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

  void put_rule(std::size_t r) {
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
    add_(key_, source.size(), value_);
  }

  Add add_;
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

// Calls add(key, source_size, value) for the rules of one part, which is sorted.
void sum_part(const RecordSorter& by_target, const RuleSums::Add& add) {
  RuleSums sums(add);
  by_target.scan([&](Bytes key, Bytes value) {
    RuleCount count{};
    std::memcpy(&count, value.data(), sizeof count);
    sums.add(key, count);
  });
  sums.close_target();
}

}  // namespace

std::size_t SourceParts::part_of(Bytes source) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(firsts_, as_text(source)) - firsts_.begin());
}

LoadPart finished(PartitionedSorter& parts) {
  return [&parts](std::size_t part) {
    parts[part].finish();
    return std::move(parts[part]);
  };
}

SourceParts divide_sources(const RecordSorter& first_part) {
  std::vector<std::string> sample;
  sum_part(first_part, [&](Bytes key, std::size_t source_size, Bytes) {
    sample.emplace_back(as_text(key.first(source_size)));
  });
  std::ranges::sort(sample);
  std::vector<std::string> firsts;
  for (std::size_t part = 1; part < kRuleParts && !sample.empty(); ++part) {
    const std::string& first = sample[part * sample.size() / kRuleParts];
    if (firsts.empty() || firsts.back() != first) firsts.push_back(first);
  }
  return SourceParts(std::move(firsts));
}

void sum_rules(const PartRange& parts, const LoadPart& load, const SourceParts& sources,
               PartitionedSorter& by_source, std::size_t threads, const std::function<void()>& poll) {
  std::vector<PartitionedSorter::Writer> writers(threads, PartitionedSorter::Writer(by_source));
  parallel_for(parts.second - parts.first, threads, [&](std::size_t i, std::size_t worker) {
    sum_part(load(parts.first + i), [&](Bytes key, std::size_t source_size, Bytes value) {
      writers[worker].add(sources.part_of(key.first(source_size)), key, value);
    });
    if (worker == 0) poll();
  });
  for (PartitionedSorter::Writer& writer : writers) writer.flush();
}

void write_counts(const PartRange& parts, const LoadPart& load, std::size_t threads, PartsWriter& out,
                  ExtractStatistics& statistics, const std::function<void()>& poll) {
  struct CodedPart {
    std::size_t number = 0;
    CodedRules rules;
    ExtractStatistics statistics;  // of the rules alone
  };
  std::size_t next = parts.first;
  const auto read = [&](CodedPart& part) {
    part.number = next;
    return next++ < parts.second;
  };
  const auto work = [&](CodedPart& part, std::size_t) {
    part.rules.clear();
    part.statistics = {};
    load(part.number).scan([&](Bytes key, Bytes value) {
      const CodedRule rule = decode_rule(key, value);
      ++part.statistics.rules;
      auto& seen = part.statistics.rules_seen;
      if (rule.count.occurrences <= seen.size()) ++seen[rule.count.occurrences - 1];
      part.rules.add(rule);
    });
  };
  const auto take = [&](const CodedPart& part) {
    out.append(part.rules.bytes());
    out.end_part();
    statistics.add(part.statistics);
    poll();
  };
  ordered_map<CodedPart, 1>(threads, read, work, take);
}

}  // namespace hiero
