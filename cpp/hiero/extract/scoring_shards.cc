#include "hiero/extract/scoring_shards.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/ordered_map.h"
#include "hiero/base/output_file.h"
#include "hiero/base/shard_files.h"
#include "hiero/base/varint.h"
#include "hiero/extract/rule_scorer.h"
#include "hiero/grammar/symbol_code.h"
#include "hiero/grammar/table_writer.h"

namespace hiero {
namespace {

// The size of a part of a file of rows, from which on another one begins.
constexpr std::size_t kPartBytes = std::size_t{1} << 26;

// Encodes rows of a table as records.
class RowEncoder {
 public:
  void encode(const RuleRow& row) {
    key_.clear();
    for (const Symbol symbol : row.source) put_symbol(key_, symbol);
    key_.push_back(kEndOfSymbols);
    value_.clear();
    for (const SparseFeature& feature : row.features) {
      const auto bytes = std::as_bytes(std::span(&feature.value, 1));
      value_.insert(value_.end(), bytes.begin(), bytes.end());
    }
    value_.insert(value_.end(), row.body.begin(), row.body.end());
    record_.clear();
    put_record(record_, key_, value_);
  }
  Bytes record() const { return record_; }

 private:
  std::vector<std::byte> key_, value_, record_;
};

// Calls visit(row) for the rows of a part of a file, in which there are so many different words.
void visit_part(const PartsFile& file, std::size_t part, std::uint32_t words,
                const std::function<void(const RuleRow&)>& visit) {
  const Bytes bytes = file.part(part);
  const auto is_known = [words](Symbol symbol) {
    return is_nonterminal(symbol) ? payload(symbol) == kRuleLabel : symbol < words;
  };
  std::vector<Symbol> source;
  ScoreFeatures features{};
  for (std::uint32_t f = 0; f < features.size(); ++f) features[f].feature = f;
  Cursor in(bytes.data(), bytes.data() + bytes.size());
  while (!in.at_end()) {
    const auto [key, all_of_value, record_end] = read_record(in);
    Bytes value = all_of_value;
    const std::byte* const end = key.data() + key.size();
    if (!in.ok() || value.size() < sizeof(float) * features.size() || skip_symbols(key.data(), end) != end)
      file.throw_damaged();
    const std::byte* at = key.data();
    get_symbols(at, source);
    if (!std::ranges::all_of(source, is_known)) file.throw_damaged();
    for (SparseFeature& feature : features) {
      std::memcpy(&feature.value, value.data(), sizeof feature.value);
      value = value.subspan(sizeof feature.value);
      if (!std::isfinite(feature.value)) file.throw_damaged();
    }
    visit({source, kRuleLabel, features, value});
  }
  file.release_pages();
}

}  // namespace

ScoreStatistics score_shard(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            const std::string& key, IndexedBitext* bitext, double least_significance,
                            const Shard& shard, std::size_t threads, const ScoreProgress& progress) {
  check_settings(options);
  PartsWriter out(output, kScoredRules);
  const Scoring scoring(counts, options);
  RuleWorkers workers(scoring, bitext, least_significance, threads);
  ScoreStatistics statistics;
  RowEncoder encoder;
  RuleGroups groups(counts, shard);
  std::size_t part_bytes = 0;
  const auto work = [&](RuleBatch& batch, std::size_t worker) {
    workers.test(batch, worker);
    workers.make_rows(batch, worker, true);
  };
  const auto take = [&](const RuleBatch& batch) {
    batch.visit_rows([&](const RuleRow& row) {
      encoder.encode(row);
      out.append(encoder.record());
      part_bytes += encoder.record().size();
    });
    if (part_bytes > kPartBytes) {
      out.end_part();
      part_bytes = 0;
    }
    statistics.read += batch.rules.size();
    statistics.kept += batch.rows.size();
    progress(statistics.read);
  };
  ordered_map<RuleBatch>(threads, [&](RuleBatch& batch) { return batch.read(groups); }, work, take);
  out.end_part();
  std::vector<std::byte> head = shard_head(shard, {key, counts.sum()});
  for (const std::uint64_t number : {statistics.read, statistics.kept, std::uint64_t{options.span_limit}})
    put_varint(head, number);
  put_string(head, options.owner);
  for (std::uint32_t word = 0; word < counts.words().size(); ++word) put_string(head, counts.words()[word]);
  out.commit(head);
  return statistics;
}

ScoreStatistics merge_scored(std::span<const std::string> shards, const std::string& output) {
  OutputFile file(output);
  const ShardFiles files(shards, kScoredRules);
  ScoreStatistics statistics;
  TableNames names;
  for (std::size_t shard = 0; shard < files.size(); ++shard) {
    Cursor head = files.rest_of_head(shard);
    statistics.read += head.varint();
    statistics.kept += head.varint();
    names.span_limit = static_cast<std::uint32_t>(head.varint());
    names.owner = head.string();
    if (shard == 0) {
      while (head.ok() && !head.at_end()) names.words.intern(head.string());
    }
    if (!head.ok()) files[shard].throw_damaged();
  }
  if (statistics.kept == 0) throw FormatError(output + ": the table would have no rules");
  add_scores(names, statistics.read);
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    for (std::size_t shard = 0; shard < files.size(); ++shard) {
      for (std::size_t part = 0; part < files[shard].size(); ++part)
        visit_part(files[shard], part, names.words.size(), visit);
    }
  };
  write_table(names, scan, file, [] { poll_interrupts(); });
  file.commit();
  return statistics;
}

}  // namespace hiero
