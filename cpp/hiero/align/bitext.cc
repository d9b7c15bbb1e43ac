#include "hiero/align/bitext.h"

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

void Bitext::add(std::string_view source, std::string_view target) {
  source_.add(source);
  target_.add(target);
}

bool Bitext::can_be_aligned() const {
  for (std::size_t pair = 0; pair < pairs(); ++pair) {
    if (source_.length(pair) > 0 && target_.length(pair) > 0) return true;
  }
  return false;
}

std::size_t Bitext::add(LineReader& source, LineReader& target) {
  const std::size_t before = pairs();
  std::string_view source_line;
  std::string_view target_line;
  while (true) {
    const bool has_source = source.next(source_line);
    const bool has_target = target.next(target_line);
    if (!has_source && !has_target) return pairs() - before;
    if (has_source != has_target) {
      const LineReader& short_one = has_source ? target : source;
      throw FormatError(short_one.name() + ": ends after " + std::to_string(short_one.line_number()) +
                        " lines, where " + (has_source ? source : target).name() + " has more");
    }
    add_line(source_, source_line, source);
    add_line(target_, target_line, target);
  }
}

}  // namespace hiero
