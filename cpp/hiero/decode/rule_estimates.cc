#include "hiero/decode/rule_estimates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <tuple>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/mapped_file.h"
#include "hiero/base/output_file.h"

namespace hiero {
namespace {

// Rules read between two releases of the table's pages: a pass over a large table must not fill the memory.
constexpr RuleId kReleaseEvery = RuleId{1} << 18;

struct EstimatesHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t flags;  // 1: any sparse features; 2: any OOV
  std::uint64_t made_for;
  std::uint64_t rules;
  std::uint64_t words;
  std::uint64_t lms;
  std::uint64_t sums;  // checksum of the blocks' checksums, which come last
  std::uint64_t sum;   // checksum of all before it
};
static_assert(sizeof(EstimatesHeader) % sizeof(std::uint64_t) == 0);
constexpr std::array<char, 8> kMagic = {'H', 'I', 'E', 'R', 'O', 'S', 'T', '\n'};
constexpr std::uint32_t kVersion = 3;

// Where the six arrays begin in a file or buffer, one after another, widest elements first, so that all are
// aligned.
struct Layout {
  std::uint64_t estimates, words, oov, target_words, has_sparse, reordered, end;

  Layout(std::uint64_t rules, std::uint64_t word_count, std::uint64_t lms)
      : estimates(0),
        words(estimates + rules * lms * sizeof(float)),
        oov(words + word_count * lms * sizeof(LmWord)),
        target_words(oov + rules * lms * sizeof(std::uint16_t)),
        has_sparse(target_words + rules * sizeof(std::uint16_t)),
        reordered(has_sparse + rules),
        end(reordered + rules) {}
};

std::uint64_t header_sum(const EstimatesHeader& header) {
  return checksum(reinterpret_cast<const std::byte*>(&header), offsetof(EstimatesHeader, sum));
}

template <class T>
std::span<T> part(std::byte* base, std::uint64_t begin, std::uint64_t end) {
  return {reinterpret_cast<T*>(base + begin), (end - begin) / sizeof(T)};
}

// The arrays behind `base`.
struct Arrays {
  Arrays(std::byte* base, const Layout& at)
      : estimates(part<float>(base, at.estimates, at.words)),
        words(part<LmWord>(base, at.words, at.oov)),
        oov(part<std::uint16_t>(base, at.oov, at.target_words)),
        target_words(part<std::uint16_t>(base, at.target_words, at.has_sparse)),
        has_sparse(part<std::uint8_t>(base, at.has_sparse, at.reordered)),
        reordered(part<std::uint8_t>(base, at.reordered, at.end)) {}

  std::span<float> estimates;
  std::span<LmWord> words;
  std::span<std::uint16_t> oov;
  std::span<std::uint16_t> target_words;
  std::span<std::uint8_t> has_sparse;
  std::span<std::uint8_t> reordered;
};

// Returns estimates whose spans are these arrays.
RuleEstimates bind_arrays(const Arrays& arrays, std::uint64_t words, std::uint64_t lms) {
  RuleEstimates out;
  out.lm_estimate = arrays.estimates;
  for (std::uint64_t k = 0; k < lms; ++k) out.lm_words.push_back(arrays.words.subspan(k * words, words));
  out.oov = arrays.oov;
  out.target_words = arrays.target_words;
  out.has_sparse = arrays.has_sparse;
  out.reordered = arrays.reordered;
  return out;
}

// Returns a fingerprint of the table and LMs that estimates are computed from.
std::uint64_t made_for(const RuleTable& table, LanguageModels lms) {
  std::vector<std::uint64_t> prints{table.fingerprint()};
  for (const auto& lm : lms) prints.push_back(lm->fingerprint());
  return checksum(reinterpret_cast<const std::byte*>(prints.data()), prints.size() * sizeof prints[0]);
}

// Returns the LM estimate of one target side, and the number of its words that the LM does not know.
std::pair<float, std::uint16_t> estimate_target(const RuleRecord& record, const LanguageModel& lm,
                                                std::span<const LmWord> lm_words,
                                                std::vector<LmWord>& chunk) {
  float sum = 0;
  std::uint16_t unknown = 0;
  std::uint64_t queries = 0;
  ChartState state;
  chunk.clear();
  for (std::size_t t = 0; t <= record.target.size(); ++t) {
    if (t < record.target.size() && !is_nonterminal(record.target[t])) {
      chunk.push_back(lm_words[record.target[t]]);
      unknown += chunk.back() == LanguageModel::kUnknown;
    } else if (!chunk.empty()) {
      sum += lm.score_terminals(chunk, false, state, queries);
      chunk.clear();
    }
  }
  return {sum, unknown};
}

// Writes the entries of one rule except those by LM.
void describe_rule(const RuleTable& table, const RuleRecord& record, RuleId rule, Arrays& arrays) {
  const auto words =
      std::ranges::count_if(record.target, [](Symbol symbol) { return !is_nonterminal(symbol); });
  if (words > 0xFFFF) throw FormatError(table.name() + ": a target side of more than 65535 words");
  arrays.target_words[rule] = static_cast<std::uint16_t>(words);
  arrays.has_sparse[rule] = !record.sparse.empty();
  arrays.reordered[rule] = record.reordered;
}

}  // namespace

void RuleEstimates::touch(RuleId first, std::uint32_t count) const {
  if (!blocks) return;
  const std::uint64_t lms = lm_words.size();
  const Layout at(target_words.size(), lms > 0 ? lm_words[0].size() : 0, lms);
  blocks->touch(at.estimates + first * lms * sizeof(float), count * lms * sizeof(float));
  blocks->touch(at.oov + first * lms * sizeof(std::uint16_t), count * lms * sizeof(std::uint16_t));
  blocks->touch(at.target_words + first * sizeof(std::uint16_t), count * sizeof(std::uint16_t));
  blocks->touch(at.has_sparse + first, count);
  blocks->touch(at.reordered + first, count);
}

RuleEstimates compute_rule_estimates(const RuleTable& table, LanguageModels lms) {
  const std::uint64_t rules = table.rule_count();
  const std::uint64_t words = table.word_count();
  const Layout layout(rules, words, lms.size());
  const auto buffer = std::make_shared<std::vector<std::uint64_t>>((layout.end + 7) / 8);
  Arrays arrays(reinterpret_cast<std::byte*>(buffer->data()), layout);
  RuleEstimates out = bind_arrays(arrays, words, lms.size());
  out.storage = buffer;
  for (std::size_t k = 0; k < lms.size(); ++k) {
    for (WordId w = 0; w < words; ++w) arrays.words[k * words + w] = lms[k]->index(table.word(w));
  }
  RuleRecord record;
  std::vector<LmWord> chunk;
  for (RuleId rule = 0; rule < rules; ++rule) {
    if (rule % kReleaseEvery == 0) table.release_pages();
    table.record(rule, record);
    describe_rule(table, record, rule, arrays);
    out.any_sparse |= !record.sparse.empty();
    for (std::size_t k = 0; k < lms.size(); ++k) {
      const std::size_t i = rule * lms.size() + k;
      std::tie(arrays.estimates[i], arrays.oov[i]) = estimate_target(record, *lms[k], out.lm_words[k], chunk);
      out.any_oov |= arrays.oov[i] > 0;
    }
  }
  table.release_pages();
  return out;
}

void save_rule_estimates(const RuleEstimates& estimates, const RuleTable& table, LanguageModels lms,
                         const std::string& path) {
  const Layout at(table.rule_count(), table.word_count(), lms.size());
  if (estimates.blocks) estimates.blocks->touch(0, at.end);
  // The six arrays are contiguous, and the estimates come first.
  const auto* base = reinterpret_cast<const std::byte*>(estimates.lm_estimate.data());
  const std::vector<std::uint64_t> sums = block_sums({base, at.end});
  const std::span<const std::byte> sum_bytes = std::as_bytes(std::span(sums));
  EstimatesHeader header{kMagic,
                         kVersion,
                         (estimates.any_sparse ? 1u : 0u) | (estimates.any_oov ? 2u : 0u),
                         made_for(table, lms),
                         table.rule_count(),
                         table.word_count(),
                         lms.size(),
                         checksum(sum_bytes.data(), sum_bytes.size()),
                         0};
  header.sum = header_sum(header);
  OutputFile file(path);
  file.write_at(0, &header, sizeof header);
  file.write_at(sizeof header, base, at.end);
  file.write_at(sizeof header + at.end, sum_bytes.data(), sum_bytes.size());
  file.commit();
}

std::optional<RuleEstimates> load_rule_estimates(const std::string& path, const RuleTable& table,
                                                 LanguageModels lms) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  EstimatesHeader header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) throw FormatError(path + ": not a file of rule estimates");
  if (header.version != kVersion) return std::nullopt;
  const std::string damaged = path + ": damaged file of rule estimates";
  if (header.sum != header_sum(header)) throw FormatError(damaged);
  const bool fits = header.made_for == made_for(table, lms) && header.rules == table.rule_count() &&
                    header.words == table.word_count() && header.lms == lms.size();
  if (!fits) return std::nullopt;
  const Layout at(header.rules, header.words, header.lms);
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  const std::uint64_t sums = block_count(at.end) * sizeof(std::uint64_t);
  if (body.size() != at.end + sums || checksum(body.data() + at.end, sums) != header.sums)
    throw FormatError(damaged);
  RuleEstimates estimates = bind_arrays({const_cast<std::byte*>(body.data()), at}, header.words, header.lms);
  estimates.storage = file;
  estimates.blocks = std::make_shared<const CheckedBlocks>(body.first(at.end), body.data() + at.end, damaged);
  // The words are few enough to be checked at once.
  estimates.blocks->touch(at.words, at.oov - at.words);
  for (std::size_t k = 0; k < lms.size(); ++k) {
    const LmWord bound = lms[k]->word_bound();
    if (!std::ranges::all_of(estimates.lm_words[k], [bound](LmWord word) { return word < bound; }))
      throw FormatError(damaged + ": a word that the language model lacks");
  }
  estimates.any_sparse = (header.flags & 1) != 0;
  estimates.any_oov = (header.flags & 2) != 0;
  return estimates;
}

}  // namespace hiero
