#include "hiero/extract/rule_extractor.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "hiero/base/error.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

bool contains(const std::vector<LineRange>& ranges, std::uint64_t line) {
  return ranges.empty() || std::ranges::any_of(ranges, [line](const LineRange& range) {
           return range.first <= line && line <= range.last;
         });
}

}  // namespace

void DistortionCounts::add(const DistortionCounts& other) {
  for (std::size_t size = 0; size < kSizes; ++size) {
    monotone[size] += other.monotone[size];
    reordered[size] += other.reordered[size];
  }
}

std::uint64_t sum_of_shares(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  if (sum < a) {
    throw Error(
        "a rule or target side occurs in 2^28 initial phrases or more, which is too much for 64-bit counts: "
        "extract from a part of the bitext");
  }
  return sum;
}

void RuleExtractor::add_counts(std::span<std::byte> sum, Bytes value) {
  RuleCount total;
  RuleCount count;
  std::memcpy(&total, sum.data(), sizeof total);
  std::memcpy(&count, value.data(), sizeof count);
  total.shares = sum_of_shares(total.shares, count.shares);
  total.occurrences += count.occurrences;
  std::memcpy(sum.data(), &total, sizeof total);
}

RuleExtractor::RuleExtractor(const ExtractOptions& options) : options_(options), finder_(options_) {
  check_settings(options_);
}

void RuleExtractor::EncodedSentence::encode(const std::vector<WordId>& words) {
  bytes.clear();
  offsets.clear();
  for (const WordId word : words) {
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    put_symbol(bytes, word);
  }
  offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
}

void RuleExtractor::EncodedSentence::append(std::uint32_t begin, std::uint32_t end,
                                            std::vector<std::byte>& out) const {
  out.insert(out.end(), bytes.begin() + offsets[begin], bytes.begin() + offsets[end]);
}

void RuleExtractor::extract(const AlignedPair& pair, const AddRule& add) {
  const bool plain = contains(options_.phrase_lines, pair.line);
  const bool hierarchical = options_.max_nonterminals > 0 && contains(options_.hierarchical_lines, pair.line);
  prepare(pair);
  for (const Phrase& phrase : *phrases_) {
    find_rules(phrase, plain, hierarchical);
    if (rules_.empty()) continue;
    ++phrase_count_;
    const std::uint64_t share = kOne / rules_.size();
    std::uint64_t remainder = kOne % rules_.size();
    for (const Gaps& gaps : rules_) {
      encode(pair, phrase, gaps);
      count_distortion(pair, phrase, gaps);
      const RuleCount count{share + (remainder > 0 ? 1 : 0), 1};
      if (remainder > 0) --remainder;
      add(key_, target_size_, count);
    }
  }
}

void RuleExtractor::prepare(const AlignedPair& pair) {
  phrases_ = &finder_.find(pair);
  source_.encode(pair.source);
  target_.encode(pair.target);
  const std::size_t positions = pair.source.size() + 1;
  first_link_.assign(positions, 0);
  for (const AlignmentLink& link : pair.links) ++first_link_[link.source + 1];
  first_phrase_.assign(positions, 0);
  for (const Phrase& phrase : *phrases_) ++first_phrase_[phrase.source_begin + 1];
  for (std::size_t i = 1; i < positions; ++i) {
    first_link_[i] += first_link_[i - 1];
    first_phrase_[i] += first_phrase_[i - 1];
  }
}

bool RuleExtractor::fits(const Phrase& gap, const Phrase& phrase) const {
  return gap.source_size() >= options_.min_gap && gap.source_end <= phrase.source_end &&
         gap.target_begin >= phrase.target_begin && gap.target_end <= phrase.target_end;
}

std::uint32_t RuleExtractor::links_in(const Phrase& phrase) const {
  return first_link_[phrase.source_end] - first_link_[phrase.source_begin];
}

// Fills rules_ with the rules of a phrase: the phrase itself if `plain`, rules with nonterminals if
// `hierarchical`.
void RuleExtractor::find_rules(const Phrase& phrase, bool plain, bool hierarchical) {
  rules_.clear();
  if (plain) rules_.push_back({});
  if (!hierarchical) return;
  // A gap that begins here or later has too many words before it.
  const std::uint32_t last = std::min(phrase.source_begin + options_.max_symbols, phrase.source_end);
  for (std::uint32_t i = first_phrase_[phrase.source_begin]; i < first_phrase_[last]; ++i) {
    const Phrase& gap = (*phrases_)[i];
    if (!fits(gap, phrase)) continue;
    const std::uint32_t symbols = phrase.source_size() - gap.source_size() + 1;
    if (symbols <= options_.max_symbols && links_in(gap) < links_in(phrase)) rules_.push_back({&gap});
    if (options_.max_nonterminals > 1) find_rules_with_two_gaps(phrase, gap);
  }
}

void RuleExtractor::find_rules_with_two_gaps(const Phrase& phrase, const Phrase& first) {
  const std::uint32_t words_before = first.source_begin - phrase.source_begin;
  if (words_before + 3 > options_.max_symbols) return;  // at least one word stands between the gaps
  const std::uint32_t begin = first.source_end + 1;
  const std::uint32_t last =
      std::min(first.source_end + options_.max_symbols - 1 - words_before, phrase.source_end);
  if (begin >= last) return;
  for (std::uint32_t i = first_phrase_[begin]; i < first_phrase_[last]; ++i) {
    const Phrase& second = (*phrases_)[i];
    if (!fits(second, phrase)) continue;
    const std::uint32_t symbols = phrase.source_size() - first.source_size() - second.source_size() + 2;
    const bool disjoint = second.target_begin >= first.target_end || first.target_begin >= second.target_end;
    if (symbols <= options_.max_symbols && disjoint &&
        links_in(first) + links_in(second) < links_in(phrase)) {
      rules_.push_back({&first, &second});
    }
  }
}

// Sets key_ to the key of a rule, and target_size_.
void RuleExtractor::encode(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps) {
  key_.clear();
  struct TargetGap {
    const Phrase* phrase;
    std::uint32_t index;
  };
  TargetGap in_target_order[2] = {{gaps.first, 0}, {gaps.second, 1}};
  if (gaps.second && gaps.second->target_begin < gaps.first->target_begin)
    std::swap(in_target_order[0], in_target_order[1]);
  std::uint32_t encoded = phrase.target_begin;
  for (const TargetGap& gap : in_target_order) {
    if (!gap.phrase) continue;
    target_.append(encoded, gap.phrase->target_begin, key_);
    put_symbol(key_, nonterminal(gap.index));
    encoded = gap.phrase->target_end;
  }
  target_.append(encoded, phrase.target_end, key_);
  key_.push_back(kEndOfSymbols);
  target_size_ = key_.size();
  encoded = phrase.source_begin;
  for (const Phrase* gap : {gaps.first, gaps.second}) {
    if (!gap) continue;
    source_.append(encoded, gap->source_begin, key_);
    put_symbol(key_, nonterminal(0));
    encoded = gap->source_end;
  }
  source_.append(encoded, phrase.source_end, key_);
  key_.push_back(kEndOfSymbols);
  encode_links(pair, phrase, gaps);
}

void RuleExtractor::encode_links(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps) {
  for (std::uint32_t i = first_link_[phrase.source_begin]; i < first_link_[phrase.source_end]; ++i) {
    const AlignmentLink& link = pair.links[i];
    std::uint32_t source = link.source - phrase.source_begin;
    std::uint32_t target = link.target - phrase.target_begin;
    bool inside_gap = false;
    for (const Phrase* gap : {gaps.first, gaps.second}) {
      if (!gap) continue;
      if (link.source >= gap->source_end) {
        source -= gap->source_size() - 1;
      } else if (link.source >= gap->source_begin) {
        inside_gap = true;
      }
      if (link.target >= gap->target_end) target -= gap->target_size() - 1;
    }
    if (inside_gap) continue;
    key_.push_back(static_cast<std::byte>(source));
    key_.push_back(static_cast<std::byte>(target));
  }
}

void RuleExtractor::count_distortion(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps) {
  for (const Phrase* gap : {gaps.first, gaps.second}) {
    if (!gap) continue;
    const std::size_t size = std::min<std::size_t>(gap->source_size(), DistortionCounts::kSizes) - 1;
    ++(is_reordered(pair, phrase, *gap) ? distortion_.reordered : distortion_.monotone)[size];
  }
}

// Returns whether the gap crosses a link of the phrase. Links in the other gap of the rule count too: they
// lie on the same side of this gap as the other gap does.
bool RuleExtractor::is_reordered(const AlignedPair& pair, const Phrase& phrase, const Phrase& gap) const {
  for (std::uint32_t i = first_link_[phrase.source_begin]; i < first_link_[gap.source_begin]; ++i) {
    if (pair.links[i].target >= gap.target_end) return true;
  }
  for (std::uint32_t i = first_link_[gap.source_end]; i < first_link_[phrase.source_end]; ++i) {
    if (pair.links[i].target < gap.target_begin) return true;
  }
  return false;
}

}  // namespace hiero
