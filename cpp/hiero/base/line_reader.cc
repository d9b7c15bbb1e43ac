#include "hiero/base/line_reader.h"

#include <cstdint>
#include <cstring>

#include "hiero/base/error.h"

namespace hiero {

bool LineReader::next(std::string_view& line) {
  carry_.clear();
  bool carried = false;
  for (;;) {
    if (block_.empty() && !at_end_) {
      block_ = source_();
      at_end_ = block_.empty();
    }
    if (at_end_) {
      if (!carried) return false;
      line = carry_;
      break;
    }
    const std::size_t end = block_.find('\n');
    const std::string_view part = block_.substr(0, end);
    const bool complete = end != std::string_view::npos;
    block_.remove_prefix(complete ? end + 1 : block_.size());
    if (complete && !carried) {
      line = part;
      break;
    }
    carry_.append(part);
    carried = true;
    if (complete) {
      line = carry_;
      break;
    }
  }
  if (++number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);  // a byte order mark
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

namespace {

// The bytes that may follow the first byte of a multibyte character: their number, and the range of the
// second byte. The others are 0x80 to 0xBF.
struct Continuation {
  int count;
  unsigned char low;
  unsigned char high;
};

// Returns count 0 for a byte that cannot begin a multibyte character.
Continuation continuation_after(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return {1, 0x80, 0xBF};
  if (first == 0xE0) return {2, 0xA0, 0xBF};  // without overlong encodings
  if (first == 0xED) return {2, 0x80, 0x9F};  // without surrogates
  if (first >= 0xE1 && first <= 0xEF) return {2, 0x80, 0xBF};
  if (first == 0xF0) return {3, 0x90, 0xBF};  // without overlong encodings
  if (first == 0xF4) return {3, 0x80, 0x8F};  // not beyond U+10FFFF
  if (first >= 0xF1 && first <= 0xF3) return {3, 0x80, 0xBF};
  return {0, 0, 0};
}

}  // namespace

void throw_ended(const LineReader& ended, const LineReader& longer) {
  throw FormatError(ended.name() + ": ends after " + std::to_string(ended.line_number()) + " lines, where " +
                    longer.name() + " has more");
}

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    std::uint64_t word;
    if (end - at >= 8) {
      std::memcpy(&word, at, 8);
      if ((word & 0x8080808080808080ull) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned char first = *at++;
    if (first < 0x80) continue;
    auto [count, low, high] = continuation_after(first);
    if (count == 0) return false;
    for (; count > 0; --count) {
      if (at == end || *at < low || *at > high) return false;
      ++at;
      low = 0x80;
      high = 0xBF;
    }
  }
  return true;
}

}  // namespace hiero
