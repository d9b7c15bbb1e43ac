#include "hiero/extract/extraction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/ordered_map.h"
#include "hiero/base/output_file.h"
#include "hiero/base/parallel.h"
#include "hiero/base/partitioned_sorter.h"
#include "hiero/base/varint.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

bool equal(Bytes a, Bytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// The parts of target sides, by their hash, and at most of source sides, by order. Threads go on with
// different parts; and the first part of target sides is a sample of all rules.
constexpr std::size_t kRuleParts = 256;

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
void sum_rules(const RecordSorter& by_target, const RuleSums::Add& add) {
  RuleSums sums(add);
  by_target.scan([&](Bytes key, Bytes value) {
    RuleCount count{};
    std::memcpy(&count, value.data(), sizeof count);
    sums.add(key, count);
  });
  sums.close_target();
}

// Parts of source sides in order, about equally many rules in each.
class SourceParts {
 public:
  // `sample` has the source sides of a random sample of rules.
  explicit SourceParts(std::vector<std::string> sample) {
    std::ranges::sort(sample);
    for (std::size_t part = 1; part < kRuleParts && !sample.empty(); ++part) {
      const std::string& first = sample[part * sample.size() / kRuleParts];
      if (firsts_.empty() || firsts_.back() != first) firsts_.push_back(first);
    }
  }

  std::size_t size() const { return firsts_.size() + 1; }
  std::size_t part_of(Bytes source) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(firsts_, as_text(source)) - firsts_.begin());
  }
  static std::string_view as_text(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::vector<std::string> firsts_;  // by part, but for the first one: its first source side
};

// The work of `threads` threads on one bitext.
class Extraction {
 public:
  Extraction(const ExtractOptions& options, const std::string& folder, std::uint64_t memory,
             std::size_t threads, const ExtractProgress& progress)
      : options_(options),
        folder_(folder),
        memory_(memory),
        threads_(threads),
        progress_(progress),
        by_target_(kRuleParts, memory / 2, folder, RuleExtractor::add_counts) {}

  // Adds all rule occurrences to the parts by target side, and all links to the lexicon.
  void extract(AlignedPairReader& reader);
  // Sums the occurrences and adds the rules to parts by source side.
  void sum();
  void write(CountsWriter& out);

  const Lexicon& lexicon() const { return lexicon_; }
  const ExtractStatistics& statistics() const { return statistics_; }

 private:
  SourceParts source_parts();
  void report() const { progress_(statistics_.pairs, statistics_.occurrences); }

  const ExtractOptions& options_;
  const std::string& folder_;
  std::uint64_t memory_;
  std::size_t threads_;
  const ExtractProgress& progress_;
  PartitionedSorter by_target_;
  std::optional<PartitionedSorter> by_source_;
  Lexicon lexicon_;
  ExtractStatistics statistics_;
};

void Extraction::extract(AlignedPairReader& reader) {
  struct Batch {
    std::array<AlignedPair, 64> pairs;
    std::size_t size = 0;
    std::uint64_t occurrences = 0;
  };
  struct Worker {
    RuleExtractor extractor;
    PartitionedSorter::Writer writer;
  };
  std::vector<Worker> workers;
  for (std::size_t k = 0; k < threads_; ++k)
    workers.push_back({RuleExtractor(options_), PartitionedSorter::Writer(by_target_)});
  const auto read = [&](Batch& batch) {
    batch.size = 0;
    while (batch.size < batch.pairs.size() && reader.next(batch.pairs[batch.size])) ++batch.size;
    return batch.size > 0;
  };
  const auto work = [&](Batch& batch, std::size_t k) {
    Worker& worker = workers[k];
    batch.occurrences = 0;
    for (std::size_t p = 0; p < batch.size; ++p) {
      worker.extractor.extract(
          batch.pairs[p], [&](Bytes key, std::size_t target_size, const RuleCount& count) {
            const std::uint64_t hash = checksum(key.data(), target_size);
            worker.writer.add(hash % kRuleParts, key, std::as_bytes(std::span(&count, 1)));
            ++batch.occurrences;
          });
    }
  };
  const auto take = [&](const Batch& batch) {
    for (std::size_t p = 0; p < batch.size; ++p) lexicon_.add(batch.pairs[p]);
    statistics_.pairs += batch.size;
    statistics_.occurrences += batch.occurrences;
    report();
  };
  ordered_map<Batch>(threads_, read, work, take);
  for (Worker& worker : workers) {
    worker.writer.flush();
    statistics_.phrases += worker.extractor.phrase_count();
    statistics_.distortion.add(worker.extractor.distortion());
  }
}

SourceParts Extraction::source_parts() {
  std::vector<std::string> sample;
  by_target_[0].finish();
  sum_rules(by_target_[0], [&](Bytes key, std::size_t source_size, Bytes) {
    sample.emplace_back(SourceParts::as_text(key.first(source_size)));
  });
  return SourceParts(std::move(sample));
}

void Extraction::sum() {
  const SourceParts parts = source_parts();
  by_source_.emplace(parts.size(), memory_ / 2, folder_);
  std::vector<PartitionedSorter::Writer> writers(threads_, PartitionedSorter::Writer(*by_source_));
  parallel_for(kRuleParts, threads_, [&](std::size_t part, std::size_t worker) {
    RecordSorter& sorter = by_target_[part];
    if (part > 0) sorter.finish();
    sum_rules(sorter, [&](Bytes key, std::size_t source_size, Bytes value) {
      writers[worker].add(parts.part_of(key.first(source_size)), key, value);
    });
    sorter.release();
    if (worker == 0) report();
  });
  for (PartitionedSorter::Writer& writer : writers) writer.flush();
}

void Extraction::write(CountsWriter& out) {
  struct Part {
    std::size_t number = 0;
    CodedRules rules;
    std::uint64_t count = 0;
    decltype(ExtractStatistics::rules_seen) seen{};
  };
  std::size_t next = 0;
  const auto read = [&](Part& part) {
    part.number = next;
    return next++ < by_source_->size();
  };
  const auto work = [&](Part& part, std::size_t) {
    part.rules.clear();
    part.count = 0;
    part.seen = {};
    RecordSorter& sorter = (*by_source_)[part.number];
    sorter.finish();
    sorter.scan([&](Bytes key, Bytes value) {
      const CodedRule rule = decode_rule(key, value);
      ++part.count;
      if (rule.count.occurrences <= part.seen.size()) ++part.seen[rule.count.occurrences - 1];
      part.rules.add(rule);
    });
    sorter.release();
  };
  const auto take = [&](const Part& part) {
    out.rules(part.rules);
    statistics_.rules += part.count;
    for (std::size_t n = 0; n < part.seen.size(); ++n) statistics_.rules_seen[n] += part.seen[n];
    report();
  };
  ordered_map<Part, 1>(threads_, read, work, take);
}

}  // namespace

ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, std::size_t threads, const ExtractProgress& progress) {
  CountsWriter out(output);  // opened first, so that an unwritable folder is an error before any work
  Vocab words;
  AlignedPairReader reader(source, target, links, words);
  const std::string folder = folder_of(output);
  Extraction extraction(options, folder, memory, threads, progress);
  extraction.extract(reader);
  if (extraction.statistics().pairs == 0) throw FormatError(source.name() + ": no sentence pairs");
  extraction.sum();
  out.words(words);
  out.lexicon(extraction.lexicon());
  extraction.write(out);
  out.commit(extraction.statistics());
  return extraction.statistics();
}

}  // namespace hiero
