// A bitext as word ids, which word alignment reads many times. It lies in files without names, so that it
// need not fit into memory.
//
// How to use:
//   1. Bitext bitext(folder);
//   2. bitext.add("das haus", "the house");  // for every pair of lines
//   3. bitext.source().sentence(0) is {1, 2}
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hiero/base/file_array.h"
#include "hiero/base/line_reader.h"
#include "hiero/base/symbol.h"
#include "hiero/base/vocab.h"

namespace hiero {

// The pairs that a thread takes at a time: so few that threads have something to share, and so many that what
// is between them costs nothing.
inline constexpr std::size_t kShardPairs = 256;

// The sentences of one side. Words are numbered from 1; 0 is the empty word, which words without a link
// belong to.
class BitextSide {
 public:
  static constexpr WordId kEmptyWord = 0;

  explicit BitextSide(const std::string& folder);

  // Appends a sentence of tokens between white space.
  void add(std::string_view line);
  // Keeps only the first sentences, and all words of the vocabulary.
  void truncate(std::size_t sentences);

  std::size_t sentences() const { return ends_.size() - 1; }
  // Returns the number of words of all sentences before this one.
  std::size_t begin(std::size_t sentence) const { return ends_.items()[sentence]; }
  std::size_t length(std::size_t sentence) const { return begin(sentence + 1) - begin(sentence); }
  std::span<const WordId> sentence(std::size_t sentence) const {
    return words_.items().subspan(begin(sentence), length(sentence));
  }
  // Number of different words and the empty word.
  std::size_t word_count() const { return vocabulary_.size() + std::size_t{1}; }
  const Vocab& vocabulary() const { return vocabulary_; }
  // Returns a checksum of the words of all sentences and of the vocabulary.
  std::uint64_t sum() const;

 private:
  Vocab vocabulary_;
  FileArray<WordId> words_;
  FileArray<std::uint64_t> ends_;  // of sentences in words_, after a 0
};

class Bitext {
 public:
  // The longest sentence: positions take 16 bits.
  static constexpr std::size_t kLongest = 0xFFFE;

  // Throws FileError, as `add` does, which then adds nothing.
  explicit Bitext(const std::string& folder) : source_(folder), target_(folder) {}

  // Appends a pair of sentences, of which either may be empty. Throws FormatError for a longer one than
  // kLongest.
  void add(std::string_view source, std::string_view target);
  // Appends the pairs of two files and returns their number. Throws FormatError, naming the line, as well for
  // invalid UTF-8 and for files with different numbers of lines.
  std::size_t add(LineReader& source, LineReader& target);

  std::size_t pairs() const { return source_.sentences(); }
  bool has_words(std::size_t pair) const { return source_.length(pair) > 0 && target_.length(pair) > 0; }
  const BitextSide& source() const { return source_; }
  const BitextSide& target() const { return target_; }
  // Returns a checksum of both sides.
  std::uint64_t sum() const;

 private:
  template <class Add>
  void all_or_none(const Add& add_pairs);
  void add_lines(LineReader& source, LineReader& target);

  BitextSide source_;
  BitextSide target_;
};

}  // namespace hiero
