#include "hiero/base/line_reader.h"

#include <cstdint>
#include <cstring>

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
    int more;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
      more = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
      more = 2;
      if (first == 0xE0) low = 0xA0;   // overlong
      if (first == 0xED) high = 0x9F;  // surrogates
    } else if (first >= 0xF0 && first <= 0xF4) {
      more = 3;
      if (first == 0xF0) low = 0x90;   // overlong
      if (first == 0xF4) high = 0x8F;  // beyond U+10FFFF
    } else {
      return false;
    }
    for (; more > 0; --more) {
      if (at == end || *at < low || *at > high) return false;
      ++at;
      low = 0x80;
      high = 0xBF;
    }
  }
  return true;
}

}  // namespace hiero
