#include "hiero/decode/rule_statics.h"

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

// Rules read between two releases of a table's pages, which keep a pass over it from filling memory.
constexpr RuleId kReleaseEvery = RuleId{1} << 18;

struct StaticsHeader {
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
static_assert(sizeof(StaticsHeader) % sizeof(std::uint64_t) == 0);
constexpr std::array<char, 8> kMagic = {'H', 'I', 'E', 'R', 'O', 'S', 'T', '\n'};
constexpr std::uint32_t kVersion = 3;

// The six arrays one behind the other, widest elements first, so that all are aligned.
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

std::uint64_t header_sum(const StaticsHeader& header) {
  return checksum(reinterpret_cast<const std::byte*>(&header), offsetof(StaticsHeader, sum));
}

template <class T>
std::span<T> part(std::byte* base, std::uint64_t begin, std::uint64_t end) {
  return {reinterpret_cast<T*>(base + begin), (end - begin) / sizeof(T)};
}

// Points the spans into the arrays at `base`.
void bind(RuleStatics& statics, std::byte* base, const Layout& at, std::uint64_t words, std::uint64_t lms) {
  statics.lm_estimate = part<const float>(base, at.estimates, at.words);
  for (std::uint64_t k = 0; k < lms; ++k) {
    statics.lm_words.push_back(part<const LmWord>(base, at.words, at.oov).subspan(k * words, words));
  }
  statics.oov = part<const std::uint16_t>(base, at.oov, at.target_words);
  statics.target_words = part<const std::uint16_t>(base, at.target_words, at.has_sparse);
  statics.has_sparse = part<const std::uint8_t>(base, at.has_sparse, at.reordered);
  statics.reordered = part<const std::uint8_t>(base, at.reordered, at.end);
}

std::uint64_t made_for(const RuleTable& table, LanguageModels lms) {
  std::vector<std::uint64_t> prints{table.fingerprint()};
  for (const auto& lm : lms) prints.push_back(lm->fingerprint());
  return checksum(reinterpret_cast<const std::byte*>(prints.data()), prints.size() * sizeof prints[0]);
}

// LM estimate and unknown words of one target side.
std::pair<float, std::uint16_t> estimate(const RuleRecord& record, const LanguageModel& lm,
                                         std::span<const LmWord> lm_words, std::vector<LmWord>& chunk) {
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

}  // namespace

void RuleStatics::touch(RuleId first, std::uint32_t count) const {
  if (!blocks) return;
  const std::uint64_t lms = lm_words.size();
  const Layout at(target_words.size(), lms > 0 ? lm_words[0].size() : 0, lms);
  blocks->touch(at.estimates + first * lms * sizeof(float), count * lms * sizeof(float));
  blocks->touch(at.oov + first * lms * sizeof(std::uint16_t), count * lms * sizeof(std::uint16_t));
  blocks->touch(at.target_words + first * sizeof(std::uint16_t), count * sizeof(std::uint16_t));
  blocks->touch(at.has_sparse + first, count);
  blocks->touch(at.reordered + first, count);
}

RuleStatics compute_statics(const RuleTable& table, LanguageModels lms) {
  const std::uint64_t rules = table.rule_count();
  const std::uint64_t words = table.word_count();
  const Layout at(rules, words, lms.size());
  const auto buffer = std::make_shared<std::vector<std::uint64_t>>((at.end + 7) / 8);
  auto* base = reinterpret_cast<std::byte*>(buffer->data());
  RuleStatics statics;
  statics.storage = buffer;
  bind(statics, base, at, words, lms.size());

  const auto lm_words = part<LmWord>(base, at.words, at.oov);
  for (std::size_t k = 0; k < lms.size(); ++k) {
    for (WordId w = 0; w < words; ++w) lm_words[k * words + w] = lms[k]->index(table.word(w));
  }
  const auto estimates = part<float>(base, at.estimates, at.words);
  const auto oov = part<std::uint16_t>(base, at.oov, at.target_words);
  const auto target_words = part<std::uint16_t>(base, at.target_words, at.has_sparse);
  const auto has_sparse = part<std::uint8_t>(base, at.has_sparse, at.reordered);
  const auto reordered = part<std::uint8_t>(base, at.reordered, at.end);
  RuleRecord record;
  std::vector<LmWord> chunk;
  for (RuleId rule = 0; rule < rules; ++rule) {
    if (rule % kReleaseEvery == 0) table.release_pages();
    table.record(rule, record);
    std::size_t made = 0;
    for (Symbol symbol : record.target) made += !is_nonterminal(symbol);
    if (made > 0xFFFF) throw FormatError(table.name() + ": a target side of more than 65535 words");
    target_words[rule] = static_cast<std::uint16_t>(made);
    has_sparse[rule] = !record.sparse.empty();
    reordered[rule] = record.reordered;
    statics.any_sparse |= !record.sparse.empty();
    for (std::size_t k = 0; k < lms.size(); ++k) {
      const std::size_t i = rule * lms.size() + k;
      std::tie(estimates[i], oov[i]) = estimate(record, *lms[k], statics.lm_words[k], chunk);
      statics.any_oov |= oov[i] > 0;
    }
  }
  table.release_pages();
  return statics;
}

void save_statics(const RuleStatics& statics, const RuleTable& table, LanguageModels lms,
                  const std::string& path) {
  const Layout at(table.rule_count(), table.word_count(), lms.size());
  if (statics.blocks) statics.blocks->touch(0, at.end);
  // The estimates come first; all six arrays lie in one stretch.
  const auto* base = reinterpret_cast<const std::byte*>(statics.lm_estimate.data());
  const std::vector<std::uint64_t> sums = block_sums({base, at.end});
  const std::span<const std::byte> sum_bytes = std::as_bytes(std::span(sums));
  StaticsHeader header{kMagic,
                       kVersion,
                       (statics.any_sparse ? 1u : 0u) | (statics.any_oov ? 2u : 0u),
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

std::optional<RuleStatics> load_statics(const std::string& path, const RuleTable& table, LanguageModels lms) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  StaticsHeader header{};
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
  RuleStatics statics;
  statics.storage = file;
  statics.blocks = std::make_shared<const CheckedBlocks>(body.first(at.end), body.data() + at.end, damaged);
  bind(statics, const_cast<std::byte*>(body.data()), at, header.words, header.lms);
  // Of words there are few.
  statics.blocks->touch(at.words, at.oov - at.words);
  for (std::size_t k = 0; k < lms.size(); ++k) {
    const LmWord bound = lms[k]->word_bound();
    if (!std::ranges::all_of(statics.lm_words[k], [bound](LmWord word) { return word < bound; }))
      throw FormatError(damaged + ": a word that the language model lacks");
  }
  statics.any_sparse = (header.flags & 1) != 0;
  statics.any_oov = (header.flags & 2) != 0;
  return statics;
}

}  // namespace hiero
