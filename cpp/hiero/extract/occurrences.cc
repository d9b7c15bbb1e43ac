#include "hiero/extract/occurrences.h"

#include <array>
#include <span>
#include <vector>

#include "hiero/base/checksum.h"
#include "hiero/base/ordered_map.h"
#include "hiero/extract/rule_extractor.h"
#include "hiero/extract/rule_sums.h"

namespace hiero {
namespace {

struct PairBatch {
  std::array<AlignedPair, 64> pairs;
  std::size_t size = 0;
  std::uint64_t occurrences = 0;
};

std::uint64_t sum_with_pair(std::uint64_t sum, const AlignedPair& pair) {
  const auto add = [&sum](auto items) {
    const auto bytes = std::as_bytes(std::span(items));
    sum = checksum_detail::mix(sum, checksum(bytes.data(), bytes.size()));
  };
  add(std::span(pair.source));
  add(std::span(pair.target));
  add(std::span(pair.links));
  return sum;
}

}  // namespace

Occurrences::Occurrences(const std::string& folder, std::uint64_t memory)
    : by_target_(kRuleParts, memory / 2, folder, RuleExtractor::add_counts) {}

void Occurrences::extract(AlignedPairReader& reader, const ExtractOptions& options, const Shard& shard,
                          std::size_t threads, const ExtractProgress& progress, std::uint64_t* text_sum) {
  struct Worker {
    RuleExtractor extractor;
    PartitionedSorter::Writer writer;
  };
  std::vector<Worker> workers;
  for (std::size_t k = 0; k < threads; ++k)
    workers.push_back({RuleExtractor(options), PartitionedSorter::Writer(by_target_)});
  std::size_t batches = 0;
  const auto read = [&](PairBatch& batch) {
    do {
      for (batch.size = 0; batch.size < batch.pairs.size() && reader.next(batch.pairs[batch.size]);
           ++batch.size) {
        if (text_sum) *text_sum = sum_with_pair(*text_sum, batch.pairs[batch.size]);
      }
      all_pairs_ += batch.size;
    } while (batch.size > 0 && !shard.has(batches++));
    return batch.size > 0;
  };
  const auto work = [&](PairBatch& batch, std::size_t k) {
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
  const auto take = [&](const PairBatch& batch) {
    for (std::size_t p = 0; p < batch.size; ++p) lexicon_.add(batch.pairs[p]);
    statistics_.pairs += batch.size;
    statistics_.occurrences += batch.occurrences;
    progress(statistics_.pairs, statistics_.occurrences);
  };
  ordered_map<PairBatch>(threads, read, work, take);
  for (Worker& worker : workers) {
    worker.writer.flush();
    statistics_.phrases += worker.extractor.phrase_count();
    statistics_.distortion.add(worker.extractor.distortion());
  }
}

}  // namespace hiero
