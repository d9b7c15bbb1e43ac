#include "hiero/extract/counts_file.h"

#include <algorithm>
#include <cstring>

#include "hiero/base/checksum.h"
#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/varint.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {
namespace {

constexpr std::array<char, 8> kCountsMagic = {'H', 'I', 'E', 'R', 'O', 'C', 'T', '\n'};
constexpr std::uint32_t kCountsVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::size_t kBlock = std::size_t{1} << 20;

// Returns the checksum of a sequence of blocks from that of the previous blocks and one more block.
std::uint64_t add_to_sum(std::uint64_t sum, const std::byte* block, std::size_t size) {
  return checksum_detail::mix(sum, checksum(block, size));
}

std::uint64_t add_header_to_sum(std::uint64_t sum, const CountsHeader& header) {
  return add_to_sum(sum, reinterpret_cast<const std::byte*>(&header), offsetof(CountsHeader, sum));
}

std::uint64_t word_code(WordId word) { return word == Lexicon::kNull ? 0 : std::uint64_t{word} + 1; }

}  // namespace

// Writes the complete blocks of the buffer.
void CountsWriter::flush() {
  std::size_t end = 0;
  for (; buffer_.size() - end >= kBlock; end += kBlock) sum_ = add_to_sum(sum_, buffer_.data() + end, kBlock);
  if (end == 0) return;
  file_.write_at(sizeof(CountsHeader) + written_, buffer_.data(), end);
  written_ += end;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(end));
}

void CountsWriter::words(const Vocab& words) {
  header_.words = words.size();
  for (std::uint32_t w = 0; w < words.size(); ++w) {
    const auto bytes = std::as_bytes(std::span(words[w]));
    put_varint(buffer_, bytes.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    flush();
  }
}

void CountsWriter::lexicon(const Lexicon& lexicon) {
  header_.lexicon_at = position();
  for (const Lexicon::Entry& entry : lexicon.entries()) {
    ++header_.lexicon;
    put_varint(buffer_, word_code(entry.source));
    put_varint(buffer_, word_code(entry.target));
    put_varint(buffer_, entry.count);
    flush();
  }
  header_.rules_at = position();
}

void CountsWriter::rules(const CodedRules& rules) {
  for (Bytes rest = rules.bytes_; !rest.empty();) {
    const Bytes part = rest.first(std::min(rest.size(), kBlock));
    buffer_.insert(buffer_.end(), part.begin(), part.end());
    flush();
    rest = rest.subspan(part.size());
  }
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

void CountsWriter::commit(ExtractStatistics statistics) {
  header_.length = position();
  file_.write_at(sizeof(CountsHeader) + written_, buffer_.data(), buffer_.size());
  sum_ = add_to_sum(sum_, buffer_.data(), buffer_.size());
  header_.magic = kCountsMagic;
  header_.version = kCountsVersion;
  header_.byte_order = kByteOrder;
  header_.statistics = statistics;
  header_.sum = add_header_to_sum(sum_, header_);
  file_.write_at(0, &header_, sizeof header_);
  file_.commit();
}

CountsFile::CountsFile(const std::string& path) : path_(path), file_(path) {
  const Bytes bytes = file_.bytes();
  if (bytes.size() < sizeof header_ ||
      std::memcmp(bytes.data(), kCountsMagic.data(), kCountsMagic.size()) != 0)
    throw FormatError(path + ": not a file of rule counts");
  std::memcpy(&header_, bytes.data(), sizeof header_);
  if (header_.version != kCountsVersion || header_.byte_order != kByteOrder) {
    throw FormatError(path + ": rule counts of format version " + std::to_string(header_.version) +
                      ", this program reads " + std::to_string(kCountsVersion) + ": extract again");
  }
  if (header_.length != bytes.size()) throw FormatError(path + ": truncated");
  std::uint64_t sum = 0;
  for (std::size_t at = sizeof header_;; at += kBlock) {
    const std::size_t size = std::min(kBlock, bytes.size() - at);
    sum = add_to_sum(sum, bytes.data() + at, size);
    if (at % (64 * kBlock) < kBlock) file_.release_pages();
    if (size < kBlock) break;
  }
  if (add_header_to_sum(sum, header_) != header_.sum || header_.lexicon_at < sizeof header_ ||
      header_.rules_at < header_.lexicon_at || header_.rules_at > header_.length) {
    throw_damaged();
  }
}

void CountsFile::throw_damaged() const { throw FormatError(path_ + ": damaged: extract again"); }

Vocab CountsFile::words() const {
  Cursor in(file_.bytes().data() + sizeof header_, file_.bytes().data() + header_.lexicon_at);
  Vocab words;
  for (std::uint64_t w = 0; w < header_.words && in.ok(); ++w) {
    if (words.intern(in.string()) != w) throw_damaged();
  }
  if (!in.ok() || !in.at_end()) throw_damaged();
  return words;
}

Lexicon CountsFile::lexicon() const {
  Cursor in(file_.bytes().data() + header_.lexicon_at, file_.bytes().data() + header_.rules_at);
  Lexicon lexicon;
  const auto word = [&] {
    const std::uint64_t code = in.varint();
    if (code > header_.words) throw_damaged();
    return code == 0 ? Lexicon::kNull : static_cast<WordId>(code - 1);
  };
  for (std::uint64_t n = 0; n < header_.lexicon && in.ok(); ++n) {
    const WordId source = word();
    const WordId target = word();
    const std::uint64_t count = in.varint();
    if (in.ok() && count > 0) lexicon.add(source, target, count);
  }
  if (!in.ok() || !in.at_end()) throw_damaged();
  return lexicon;
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
  if (!numbers.ok() || links.size() % 2 != 0) throw_damaged();
  rule.links = std::as_bytes(std::span(links));
  at = begin + counts.size();
  return rule;
}

RuleGroups::RuleGroups(const CountsFile& file)
    : file_(file),
      at_(file.file_.bytes().data() + file.header_.rules_at),
      end_(file.file_.bytes().data() + file.file_.bytes().size()),
      released_(at_) {}

bool RuleGroups::next() {
  constexpr std::ptrdiff_t kReleaseInterval = std::ptrdiff_t{64} << 20;  // bytes
  rules_.clear();
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
  return !rules_.empty();
}

std::vector<std::string> CountsFile::source_tokens(Bytes code, const Vocab& words) const {
  return side_tokens(code, words, true);
}

std::vector<std::string> CountsFile::target_tokens(Bytes code, const Vocab& words) const {
  return side_tokens(code, words, false);
}

// Nonterminals of a source side are numbered from left to right, those of a target side have their numbers.
std::vector<std::string> CountsFile::side_tokens(Bytes code, const Vocab& words, bool is_source) const {
  std::vector<Symbol> symbols;
  const std::byte* at = code.data();
  get_symbols(at, symbols);
  std::vector<std::string> out;
  std::uint32_t number = 0;
  for (const Symbol symbol : symbols) {
    if (is_nonterminal(symbol)) {
      const std::uint32_t index = is_source ? number++ : payload(symbol);
      out.push_back("[X," + std::to_string(index + 1) + "]");
    } else {
      if (symbol >= words.size()) throw_damaged();
      out.push_back(escape(words[symbol]));
    }
  }
  return out;
}

}  // namespace hiero
