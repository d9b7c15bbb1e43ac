// A reader of lines from a byte stream that arrives in blocks, such as a compressed file.
//
// How to use: LineReader lines(source, "grammar.gz"); std::string_view line;
//   while (lines.next(line)) ...;  errors begin with lines.where(), "grammar.gz:17".
// A line ends with "\n"; a "\r" before it and a byte order mark at the start of the stream are dropped. The
// last line needs no "\n".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hiero {

// Returns the next block of bytes, valid until the next call, or an empty block at the end.
using BlockSource = std::function<std::string_view()>;

class LineReader {
 public:
  // `name` is the name of the stream in error messages.
  LineReader(BlockSource source, std::string name) : source_(std::move(source)), name_(std::move(name)) {}

  // Reads the next line, valid until the next call. Returns false at the end.
  bool next(std::string_view& line);
  std::uint64_t line_number() const { return number_; }
  const std::string& name() const { return name_; }
  // Returns "name:17" if line 17 was read last.
  std::string where() const { return name_ + ":" + std::to_string(number_); }

 private:
  BlockSource source_;
  std::string name_;
  std::string_view block_;
  std::string carry_;  // the beginning of a line that ends in a later block
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

// Throws FormatError for a file that has ended where another one has more lines.
[[noreturn]] void throw_ended(const LineReader& ended, const LineReader& longer);

// Returns whether the text is well-formed UTF-8 (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);

}  // namespace hiero
