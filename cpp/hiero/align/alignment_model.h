// A file of what word alignment has learned, by which further pairs are aligned.
//
//   AlignmentModelHeader
//   words          of the source and of the target side, per word: varint length, bytes
//   directions     at a multiple of 8 bytes each, FrozenDirections: those of target words given source words,
//                  then the others
//
// How to use:
//   1. AlignmentModel::save(path, bitext, aligner.directions());
//   2. AlignmentModel model(path);                       // mapped, and safe to share between threads
//   3. PairAligner aligner(model.directions(), heuristic);
//      model.align(aligner, "das haus", "the house");    // then aligner.links()
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/align/link_lines.h"
#include "hiero/align/pair_aligner.h"
#include "hiero/base/mapped_file.h"
#include "hiero/base/vocab.h"

namespace hiero {

class AlignmentModel {
 public:
  // Writes a file, in full or not at all. Throws FileError.
  static void save(const std::string& path, const Bitext& bitext, const Directions& directions);

  // Opens a file and checks all of it. Throws FileError, or FormatError for a file of another kind or
  // version, or one that is truncated or damaged.
  explicit AlignmentModel(const std::string& path);

  const Directions& directions() const { return directions_; }
  std::size_t samplers() const { return directions_[0].size(); }
  // Aligns a pair of lines of tokens. The same pair always gets the same links. Throws FormatError for a side
  // that is longer than Bitext::kLongest.
  void align(PairAligner& aligner, std::string_view source, std::string_view target) const;
  // Aligns pairs of lines on several threads.
  LinkLines lines(std::span<const std::string> source, std::span<const std::string> target,
                  Heuristic heuristic, std::size_t threads) const;

 private:
  std::vector<WordId> ids(std::string_view line, std::size_t side) const;
  [[noreturn]] void throw_damaged(const std::string& how = "damaged") const;

  std::string path_;
  MappedFile file_;
  std::array<Vocab, 2> words_;
  Directions directions_;
};

}  // namespace hiero
