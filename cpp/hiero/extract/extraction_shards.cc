#include "hiero/extract/extraction_shards.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "hiero/base/checksum.h"
#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"
#include "hiero/base/output_file.h"
#include "hiero/base/varint.h"
#include "hiero/extract/occurrences.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

bool is_occurrence(const Record& record) {
  const std::byte* const end = record.key.data() + record.key.size();
  const std::byte* const source = skip_symbols(record.key.data(), end);
  const std::byte* const links = source ? skip_symbols(source, end) : nullptr;
  if (!links || (end - links) % 2 != 0 || record.value.size() != sizeof(RuleCount)) return false;
  RuleCount count;
  std::memcpy(&count, record.value.data(), sizeof count);
  return count.occurrences > 0;
}

bool is_rule_sum(const Record& record) {
  const std::byte* const end = record.key.data() + record.key.size();
  const std::byte* const target = skip_symbols(record.key.data(), end);
  Cursor value(record.value.data(), record.value.data() + record.value.size());
  value.varint();
  const bool occurs = value.varint() > 0;
  value.varint();
  return occurs && target && skip_symbols(target, end) == end && value.rest().size() % 2 == 0 && value.ok();
}

// Adds the records of a part to a sorter, in pieces of some size, and checks them.
void add_part(const PartsFile& file, std::size_t part, bool (*is_valid)(const Record&),
              RecordSorter& sorter) {
  constexpr std::ptrdiff_t kPiece = std::ptrdiff_t{1} << 16;  // bytes
  const Bytes bytes = file.part(part);
  const std::byte* const end = bytes.data() + bytes.size();
  const std::byte* begin = bytes.data();
  for (Cursor in(begin, end); !in.at_end();) {
    const Record record = read_record(in);
    if (!in.ok() || !is_valid(record)) file.throw_damaged();
    if (record.end - begin >= kPiece || record.end == end) {
      sorter.add(Bytes(begin, record.end));
      begin = record.end;
    }
  }
}

// Writes the records of a finished sorter as a part.
void write_part(const RecordSorter& sorter, PartsWriter& out) {
  std::vector<std::byte> record;
  sorter.scan([&](Bytes key, Bytes value) {
    record.clear();
    put_record(record, key, value);
    out.append(record);
  });
  out.end_part();
}

void write_parts(PartitionedSorter& parts, PartsWriter& out) {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part].finish();
    write_part(parts[part], out);
    parts[part].release();
    poll_interrupts();
  }
}

}  // namespace

ExtractStatistics extract_shard(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                const std::string& key, const Shard& shard, std::uint64_t memory,
                                std::size_t threads, const ExtractProgress& progress) {
  PartsWriter out(output, kOccurrences);
  CountsHead head;
  AlignedPairReader reader(source, target, links, head.words);
  Occurrences occurrences(folder_of(output), memory);
  std::uint64_t text_sum = 0;
  occurrences.extract(reader, options, shard, threads, progress, &text_sum);
  if (occurrences.all_pairs() == 0) throw FormatError(source.name() + ": no sentence pairs");
  write_parts(occurrences.by_target(), out);
  head.statistics = occurrences.statistics();
  head.lexicon = occurrences.take_lexicon();
  for (std::uint32_t word = 0; word < head.words.size(); ++word)
    text_sum = checksum_detail::mix(text_sum, hash_word(head.words[word]));
  std::vector<std::byte> bytes = shard_head(shard, {key, text_sum});
  const std::vector<std::byte> rest = encode_head(head);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  out.commit(bytes);
  return head.statistics;
}

ExtractedShards::ExtractedShards(std::span<const std::string> paths) : files_(paths, kOccurrences) {
  for (std::size_t shard = 0; shard < files_.size(); ++shard)
    if (files_[shard].size() != kRuleParts) files_[shard].throw_damaged();
}

LoadPart ExtractedShards::loader(std::uint64_t memory, const std::string& folder) const {
  return [this, memory, folder](std::size_t part) {
    RecordSorter sorter(memory, folder, RuleExtractor::add_counts);
    for (std::size_t shard = 0; shard < files_.size(); ++shard) {
      add_part(files_[shard], part, is_occurrence, sorter);
      files_[shard].release_pages();
    }
    sorter.finish();
    return sorter;
  };
}

CountsHead ExtractedShards::head() const {
  CountsHead out;
  for (std::size_t shard = 0; shard < files_.size(); ++shard) {
    CountsHead head = decode_head(files_.rest_of_head(shard), [&] { files_[shard].throw_damaged(); });
    out.statistics.add(head.statistics);
    for (const Lexicon::Entry& entry : head.lexicon.entries())
      out.lexicon.add(entry.source, entry.target, entry.count);
    out.words = std::move(head.words);  // the same in all shards
  }
  return out;
}

ExtractStatistics merge_shards(const ExtractedShards& shards, const std::string& output, std::uint64_t memory,
                               std::size_t threads) {
  PartsWriter out(output, kRuleCounts);
  const std::string folder = folder_of(output);
  CountsHead head = shards.head();
  const SourceParts sources = divide_sources(shards, memory, folder);
  PartitionedSorter by_source(sources.size(), memory / 2, folder);
  sum_rules({0, kRuleParts}, shards.loader(memory / 2 / threads, folder), sources, by_source, threads, [] {});
  write_counts({0, sources.size()}, finished(by_source), threads, out, head.statistics, [] {});
  out.commit(encode_head(head));
  return head.statistics;
}

SourceParts divide_sources(const ExtractedShards& shards, std::uint64_t memory, const std::string& folder) {
  return divide_sources(shards.loader(memory, folder)(0));
}

void sum_shard(const ExtractedShards& shards, const SourceParts& sources, const std::string& output,
               const Shard& shard, std::uint64_t memory, std::size_t threads) {
  PartsWriter out(output, kRuleSums);
  const std::string folder = folder_of(output);
  PartitionedSorter by_source(sources.size(), memory / 2, folder);
  const LoadPart load = shards.loader(memory / 2 / threads, folder);
  sum_rules(shard.range(kRuleParts), load, sources, by_source, threads, [] {});
  write_parts(by_source, out);
  out.commit({});
}

void code_shard(std::span<const std::string> sums, const std::string& output, const Shard& shard,
                std::uint64_t memory, std::size_t threads) {
  PartsWriter out(output, kRuleCounts);
  std::vector<std::unique_ptr<PartsFile>> files;
  for (const std::string& path : sums) {
    files.push_back(std::make_unique<PartsFile>(path, kRuleSums));
    if (files.back()->size() != files.front()->size()) files.back()->throw_damaged();
  }
  if (files.empty()) throw FormatError("no sums of rules");
  const LoadPart load = [&](std::size_t part) {
    RecordSorter sorter(memory / threads, folder_of(output));
    for (const auto& file : files) add_part(*file, part, is_rule_sum, sorter);
    sorter.finish();
    return sorter;
  };
  CountsHead head;
  write_counts(shard.range(files.front()->size()), load, threads, out, head.statistics, [] {});
  out.commit(encode_head(head));
}

ExtractStatistics join_shards(const ExtractedShards& shards, std::span<const std::string> coded,
                              const std::string& output) {
  PartsWriter out(output, kRuleCounts);
  CountsHead head = shards.head();
  for (const std::string& path : coded) {
    const PartsFile file(path, kRuleCounts);
    const Bytes bytes = file.head();
    const CountsHead part =
        decode_head({bytes.data(), bytes.data() + bytes.size()}, [&] { file.throw_damaged(); });
    head.statistics.add(part.statistics);
    for (std::size_t number = 0; number < file.size(); ++number) {
      out.append(file.part(number));
      out.end_part();
      file.release_pages();
      poll_interrupts();
    }
  }
  out.commit(encode_head(head));
  return head.statistics;
}

}  // namespace hiero
