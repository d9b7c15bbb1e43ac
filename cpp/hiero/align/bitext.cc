#include "hiero/align/bitext.h"

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/tokens.h"

namespace hiero {
namespace {

void add_line(BitextSide& side, std::string_view line, const LineReader& reader) {
  if (!is_utf8(line)) throw FormatError(reader.where() + ": invalid UTF-8");
  try {
    side.add(line);
  } catch (const FormatError& error) {
    throw FormatError(reader.where() + ": " + error.what());
  }
}

}  // namespace

BitextSide::BitextSide(const std::string& folder) : words_(folder), ends_(folder) { ends_.push_back(0); }

void BitextSide::add(std::string_view line) {
  for (auto token = next_token(line); !token.empty(); token = next_token(line))
    words_.push_back(vocabulary_.intern(token) + 1);
  if (words_.size() - ends_.items().back() > Bitext::kLongest)
    throw FormatError("a sentence of more than " + std::to_string(Bitext::kLongest) + " words");
  ends_.push_back(words_.size());
}

void BitextSide::truncate(std::size_t sentences) {
  ends_.resize(sentences + 1);
  words_.resize(ends_.items().back());
}

std::uint64_t BitextSide::sum() const {
  std::uint64_t sum = 0;
  const auto add = [&](std::span<const std::byte> bytes) {
    sum = checksum_detail::mix(sum, checksum(bytes.data(), bytes.size()));
  };
  add(std::as_bytes(words_.items()));
  add(std::as_bytes(ends_.items()));
  for (std::uint32_t word = 0; word < vocabulary_.size(); ++word)
    add(std::as_bytes(std::span(vocabulary_[word])));
  return sum;
}

std::uint64_t Bitext::sum() const {
  // mix(a, b) is mix(b, a): the inner one tells the sides apart.
  return checksum_detail::mix(checksum_detail::mix(0, source_.sum()), target_.sum());
}

void Bitext::add(std::string_view source, std::string_view target) {
  all_or_none([&] {
    source_.add(source);
    target_.add(target);
  });
}

template <class Add>
void Bitext::all_or_none(const Add& add_pairs) {
  const std::size_t before = pairs();
  try {
    add_pairs();
  } catch (...) {
    source_.truncate(before);
    target_.truncate(before);
    throw;
  }
}

std::size_t Bitext::add(LineReader& source, LineReader& target) {
  const std::size_t before = pairs();
  all_or_none([&] { add_lines(source, target); });
  return pairs() - before;
}

void Bitext::add_lines(LineReader& source, LineReader& target) {
  std::string_view source_line;
  std::string_view target_line;
  while (true) {
    const bool has_source = source.next(source_line);
    const bool has_target = target.next(target_line);
    if (!has_source && !has_target) return;
    if (!has_target) throw_ended(target, source);
    if (!has_source) throw_ended(source, target);
    add_line(source_, source_line, source);
    add_line(target_, target_line, target);
  }
}

}  // namespace hiero
