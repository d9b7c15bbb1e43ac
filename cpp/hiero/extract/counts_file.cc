#include "hiero/extract/counts_file.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "hiero/base/varint.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

// The beginning of an encoded head.
struct HeadSizes {
  ExtractStatistics statistics;
  std::uint64_t words;
  std::uint64_t lexicon;
};

std::uint64_t word_code(WordId word) { return word == Lexicon::kNull ? 0 : std::uint64_t{word} + 1; }

}  // namespace

void ExtractStatistics::add(const ExtractStatistics& other) {
  pairs += other.pairs;
  phrases += other.phrases;
  occurrences += other.occurrences;
  rules += other.rules;
  distortion.add(other.distortion);
  for (std::size_t n = 0; n < rules_seen.size(); ++n) rules_seen[n] += other.rules_seen[n];
}

std::vector<std::byte> encode_head(const CountsHead& head) {
  const std::vector<Lexicon::Entry> entries = head.lexicon.entries();
  const HeadSizes sizes{head.statistics, head.words.size(), entries.size()};
  std::vector<std::byte> out(sizeof sizes);
  std::memcpy(out.data(), &sizes, sizeof sizes);
  for (std::uint32_t w = 0; w < head.words.size(); ++w) put_string(out, head.words[w]);
  for (const Lexicon::Entry& entry : entries) {
    put_varint(out, word_code(entry.source));
    put_varint(out, word_code(entry.target));
    put_varint(out, entry.count);
  }
  return out;
}

CountsHead decode_head(Cursor in, const std::function<void()>& throw_damaged) {
  HeadSizes sizes{};
  const std::string_view begin = in.bytes(sizeof sizes);
  if (!in.ok()) throw_damaged();
  std::memcpy(&sizes, begin.data(), sizeof sizes);
  CountsHead head;
  head.statistics = sizes.statistics;
  for (std::uint64_t w = 0; w < sizes.words && in.ok(); ++w) {
    if (head.words.intern(in.string()) != w) throw_damaged();
  }
  const auto word = [&] {
    const std::uint64_t code = in.varint();
    if (code > sizes.words) throw_damaged();
    return code == 0 ? Lexicon::kNull : static_cast<WordId>(code - 1);
  };
  for (std::uint64_t n = 0; n < sizes.lexicon && in.ok(); ++n) {
    const WordId source = word();
    const WordId target = word();
    const std::uint64_t count = in.varint();
    if (in.ok() && count > 0) head.lexicon.add(source, target, count);
  }
  if (!in.ok() || !in.at_end()) throw_damaged();
  return head;
}

void CodedRules::add(const CodedRule& rule) {
  const auto append = [this](Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); };
  if (std::ranges::equal(rule.source, source_)) {
    bytes_.push_back(kEndOfSymbols);
  } else {
    append(rule.source);
    source_.assign(rule.source.begin(), rule.source.end());
  }
  append(rule.target);
  tail_.clear();
  put_varint(tail_, rule.count.shares);
  put_varint(tail_, rule.count.occurrences);
  put_varint(tail_, rule.target_shares);
  tail_.insert(tail_.end(), rule.links.begin(), rule.links.end());
  put_varint(bytes_, tail_.size());
  append(tail_);
}

void CodedRules::clear() {
  bytes_.clear();
  source_.clear();
}

CountsFile::CountsFile(const std::string& path) : file_(path, kRuleCounts) {
  const Bytes head = file_.head();
  head_ = decode_head({head.data(), head.data() + head.size()}, [this] { throw_damaged(); });
}

CodedRule CountsFile::read_rule(const std::byte*& at, const std::byte* end) const {
  CodedRule rule{};
  const std::byte* const target = skip_symbols(at, end);
  const std::byte* const tail = target ? skip_symbols(target, end) : nullptr;
  if (!tail) throw_damaged();
  rule.source = {at, target};
  rule.target = {target, tail};
  Cursor in(tail, end);
  const std::string_view counts = in.string();
  if (!in.ok()) throw_damaged();
  const auto* const begin = reinterpret_cast<const std::byte*>(counts.data());
  Cursor numbers(begin, begin + counts.size());
  rule.count.shares = numbers.varint();
  rule.count.occurrences = numbers.varint();
  rule.target_shares = numbers.varint();
  const std::string_view links = numbers.rest();
  if (!numbers.ok() || links.size() % 2 != 0 || rule.count.occurrences == 0) throw_damaged();
  rule.links = std::as_bytes(std::span(links));
  at = begin + counts.size();
  return rule;
}

RuleGroups::RuleGroups(const CountsFile& file, const Shard& shard) : file_(file) {
  std::tie(part_, end_part_) = shard.range(file.size());
}

bool RuleGroups::next() {
  constexpr std::ptrdiff_t kReleaseInterval = std::ptrdiff_t{64} << 20;  // bytes
  rules_.clear();
  while (at_ == end_) {
    if (part_ == end_part_) return false;
    const Bytes part = file_.file_.part(part_++);
    at_ = part.data();
    end_ = at_ + part.size();
    if (!released_) released_ = at_;
  }
  while (at_ < end_) {
    const std::byte* const begin = at_;
    CodedRule rule = file_.read_rule(at_, end_);
    const bool is_first = rule.source.size() > 1;  // others have no more than the end mark
    if (is_first && !rules_.empty()) {
      at_ = begin;
      break;
    }
    if (!is_first && rules_.empty()) file_.throw_damaged();
    if (!is_first) rule.source = rules_.front().source;
    rules_.push_back(rule);
  }
  if (at_ - released_ > kReleaseInterval) {
    file_.file_.release_pages();
    released_ = at_;
  }
  return true;
}

// Nonterminals of a source side are numbered from left to right, those of a target side have their numbers.
std::vector<std::string> side_tokens(const Vocab& words, Bytes code, bool is_source) {
  std::vector<Symbol> symbols;
  const std::byte* at = code.data();
  get_symbols(at, symbols);
  std::vector<std::string> out;
  std::uint32_t number = 0;
  for (const Symbol symbol : symbols) {
    const std::uint32_t index = is_source ? number : payload(symbol);
    if (is_nonterminal(symbol)) ++number;
    out.push_back(is_nonterminal(symbol) ? "[X," + std::to_string(index + 1) + "]" : escape(words[symbol]));
  }
  return out;
}

std::vector<std::string> CountsFile::checked_tokens(Bytes code, bool is_source) const {
  std::vector<Symbol> symbols;
  const std::byte* at = code.data();
  get_symbols(at, symbols);
  for (const Symbol symbol : symbols) {
    if (!is_nonterminal(symbol) && symbol >= words().size()) throw_damaged();
  }
  return side_tokens(words(), code, is_source);
}

void CountsFile::save_words(const std::string& path) const {
  PartsWriter out(path, kRuleCounts);
  out.commit(encode_head(head_));
}

}  // namespace hiero
