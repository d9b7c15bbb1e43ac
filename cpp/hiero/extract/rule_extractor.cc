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

std::uint64_t sum_of_shares(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  if (sum < a) {
    throw Error(
        "a rule or target side is in 2^28 initial phrases or more, which counts do not hold: "
        "extract from less of the bitext");
  }
  return sum;
}

void RuleExtractor::add_counts(std::span<std::byte> into, Bytes value) {
  RuleCount sum;
  RuleCount more;
  std::memcpy(&sum, into.data(), sizeof sum);
  std::memcpy(&more, value.data(), sizeof more);
  sum.shares = sum_of_shares(sum.shares, more.shares);
  sum.occurrences += more.occurrences;
  std::memcpy(into.data(), &sum, sizeof sum);
}

RuleExtractor::RuleExtractor(const ExtractOptions& options) : options_(options), finder_(options_) {
  check_settings(options_);
}

void RuleExtractor::Side::encode(const std::vector<WordId>& words) {
  bytes.clear();
  at.clear();
  for (const WordId word : words) {
    at.push_back(static_cast<std::uint32_t>(bytes.size()));
    put_symbol(bytes, word);
  }
  at.push_back(static_cast<std::uint32_t>(bytes.size()));
}

void RuleExtractor::Side::append(std::uint32_t begin, std::uint32_t end, std::vector<std::byte>& out) const {
  out.insert(out.end(), bytes.begin() + at[begin], bytes.begin() + at[end]);
}

void RuleExtractor::extract(const AlignedPair& pair, RecordSorter& out) {
  const bool whole = contains(options_.phrase_lines, pair.line);
  const bool hierarchical = options_.max_nonterminals > 0 && contains(options_.hierarchical_lines, pair.line);
  prepare(pair);
  for (const Phrase& phrase : *phrases_) {
    find_gaps(phrase, whole, hierarchical);
    if (choices_.empty()) continue;
    ++phrase_count_;
    const std::uint64_t share = kOne / choices_.size();
    std::uint64_t rest = kOne % choices_.size();
    for (const Gaps& gaps : choices_) {
      encode(pair, phrase, gaps);
      count_distortion(pair, phrase, gaps);
      const RuleCount count{share + (rest > 0 ? 1 : 0), 1};
      if (rest > 0) --rest;
      out.add(key_, std::as_bytes(std::span(&count, 1)));
    }
  }
}

void RuleExtractor::prepare(const AlignedPair& pair) {
  phrases_ = &finder_.find(pair);
  source_.encode(pair.source);
  target_.encode(pair.target);
  const std::size_t positions = pair.source.size() + 1;
  links_at_.assign(positions, 0);
  for (const AlignmentLink& link : pair.links) ++links_at_[link.source + 1];
  phrases_at_.assign(positions, 0);
  for (const Phrase& phrase : *phrases_) ++phrases_at_[phrase.source_begin + 1];
  for (std::size_t i = 1; i < positions; ++i) {
    links_at_[i] += links_at_[i - 1];
    phrases_at_[i] += phrases_at_[i - 1];
  }
}

bool RuleExtractor::fits(const Phrase& gap, const Phrase& phrase) const {
  return gap.source_size() >= options_.min_gap && gap.source_end <= phrase.source_end &&
         gap.target_begin >= phrase.target_begin && gap.target_end <= phrase.target_end;
}

std::uint32_t RuleExtractor::links_in(const Phrase& phrase) const {
  return links_at_[phrase.source_end] - links_at_[phrase.source_begin];
}

// All ways to make a rule of a phrase, into choices_.
void RuleExtractor::find_gaps(const Phrase& phrase, bool whole, bool hierarchical) {
  choices_.clear();
  if (whole) choices_.push_back({});
  if (!hierarchical) return;
  // A gap that begins later than this would leave too many words before it.
  const std::uint32_t last = std::min(phrase.source_begin + options_.max_symbols, phrase.source_end);
  for (std::uint32_t i = phrases_at_[phrase.source_begin]; i < phrases_at_[last]; ++i) {
    const Phrase& gap = (*phrases_)[i];
    if (!fits(gap, phrase)) continue;
    const std::uint32_t symbols = phrase.source_size() - gap.source_size() + 1;
    if (symbols <= options_.max_symbols && links_in(gap) < links_in(phrase)) choices_.push_back({&gap});
    if (options_.max_nonterminals > 1) find_second_gaps(phrase, gap);
  }
}

void RuleExtractor::find_second_gaps(const Phrase& phrase, const Phrase& first) {
  const std::uint32_t before = first.source_begin - phrase.source_begin;
  if (before + 3 > options_.max_symbols) return;  // one word at least stands between the two
  const std::uint32_t begin = first.source_end + 1;
  const std::uint32_t last =
      std::min(first.source_end + options_.max_symbols - 1 - before, phrase.source_end);
  if (begin >= last) return;
  for (std::uint32_t i = phrases_at_[begin]; i < phrases_at_[last]; ++i) {
    const Phrase& second = (*phrases_)[i];
    if (!fits(second, phrase)) continue;
    const std::uint32_t symbols = phrase.source_size() - first.source_size() - second.source_size() + 2;
    const bool disjoint = second.target_begin >= first.target_end || first.target_begin >= second.target_end;
    if (symbols <= options_.max_symbols && disjoint &&
        links_in(first) + links_in(second) < links_in(phrase)) {
      choices_.push_back({&first, &second});
    }
  }
}

// The rule's key.
void RuleExtractor::encode(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps) {
  key_.clear();
  struct Hole {
    const Phrase* phrase;
    std::uint32_t index;
  };
  Hole holes[2] = {{gaps.first, 0}, {gaps.second, 1}};
  if (gaps.second && gaps.second->target_begin < gaps.first->target_begin) std::swap(holes[0], holes[1]);
  std::uint32_t at = phrase.target_begin;
  for (const Hole& hole : holes) {
    if (!hole.phrase) continue;
    target_.append(at, hole.phrase->target_begin, key_);
    put_symbol(key_, nonterminal(hole.index));
    at = hole.phrase->target_end;
  }
  target_.append(at, phrase.target_end, key_);
  key_.push_back(kEndOfSymbols);
  at = phrase.source_begin;
  for (const Phrase* gap : {gaps.first, gaps.second}) {
    if (!gap) continue;
    source_.append(at, gap->source_begin, key_);
    put_symbol(key_, nonterminal(0));
    at = gap->source_end;
  }
  source_.append(at, phrase.source_end, key_);
  key_.push_back(kEndOfSymbols);
  encode_links(pair, phrase, gaps);
}

void RuleExtractor::encode_links(const AlignedPair& pair, const Phrase& phrase, const Gaps& gaps) {
  for (std::uint32_t i = links_at_[phrase.source_begin]; i < links_at_[phrase.source_end]; ++i) {
    const AlignmentLink& link = pair.links[i];
    std::uint32_t source = link.source - phrase.source_begin;
    std::uint32_t target = link.target - phrase.target_begin;
    bool inside = false;
    for (const Phrase* gap : {gaps.first, gaps.second}) {
      if (!gap) continue;
      if (link.source >= gap->source_end) {
        source -= gap->source_size() - 1;
      } else if (link.source >= gap->source_begin) {
        inside = true;
      }
      if (link.target >= gap->target_end) target -= gap->target_size() - 1;
    }
    if (inside) continue;
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

// Whether the gap crosses a link around it. Links within the rule's other gap count alike: they lie on the
// same sides of this one as that gap does.
bool RuleExtractor::is_reordered(const AlignedPair& pair, const Phrase& phrase, const Phrase& gap) const {
  for (std::uint32_t i = links_at_[phrase.source_begin]; i < links_at_[gap.source_begin]; ++i) {
    if (pair.links[i].target >= gap.target_end) return true;
  }
  for (std::uint32_t i = links_at_[gap.source_end]; i < links_at_[phrase.source_end]; ++i) {
    if (pair.links[i].target < gap.target_begin) return true;
  }
  return false;
}

}  // namespace hiero
