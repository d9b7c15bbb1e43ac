// Lines of a byte stream that arrives in blocks. Where blocks come from (a plain or compressed file, a
// buffer) is the source's business. "\n" ends a line, a "\r" before it is dropped, a last line without
// "\n" counts.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hiero {

// Gives the next block of bytes, valid until the next call; empty at the end.
using BlockSource = std::function<std::string_view()>;

class LineReader {
 public:
  // `name` is what error messages call the stream.
  LineReader(BlockSource source, std::string name) : source_(std::move(source)), name_(std::move(name)) {}

  // The next line, valid until the next call; false at the end.
  bool next(std::string_view& line);
  std::uint64_t line_number() const { return number_; }
  const std::string& name() const { return name_; }
  // "name:17", of the line last read.
  std::string where() const { return name_ + ":" + std::to_string(number_); }

 private:
  BlockSource source_;
  std::string name_;
  std::string_view block_;
  std::string carry_;  // the start of a line whose end is in a later block
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

// True if the text is well-formed UTF-8 (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);

}  // namespace hiero
