// Word alignment of a bitext in both directions, by eflomal's model (Östling and Tiedemann 2016).
//
// How to use:
//   1. WordAligner aligner(bitext, options, folder);
//   2. aligner.train(progress);
//   3. aligner.links_text(0, bitext.pairs(), heuristic);  // lines such as "0-0 1-2"
//   4. AlignmentModel::save(path, bitext, aligner.directions());
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/align/direction_model.h"
#include "hiero/align/link_lines.h"
#include "hiero/align/pair_aligner.h"
#include "hiero/align/pair_sample.h"
#include "hiero/align/symmetrise.h"
#include "hiero/base/file_array.h"

namespace hiero {

struct AlignOptions {
  std::uint64_t seed = 1;
  // Samplers of each direction, whose probabilities are added up.
  int samplers = 1;
  std::size_t threads = 1;
  // Bytes for the counts of a sampler. If they have no room for all pairs, the samplers learn from a part of
  // the pairs, and what they have learned aligns the others.
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
};

// Receives the number of sweeps done and that of all. It may throw to stop the work.
using AlignProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

class WordAligner {
 public:
  // What counts of a sampler take at the most: for a word of the larger side, as they have a slot for each
  // two words that were linked. At first, when links are drawn blindly, nearly every word has one of its own,
  // and half of the slots are free; the sums over the last sweeps have fewer. And for each different word of
  // a side, which has a hash table in both, fertilities, and its text in the vocabulary.
  static constexpr std::uint64_t kBytesPerWord = 24;
  static constexpr std::uint64_t kBytesPerType = 192;

  // Returns the bytes that the counts of a sampler of all pairs may take.
  static std::uint64_t bytes_needed(const Bitext& bitext);

  // The bitext must outlive the aligner. Further data lie in files in `folder`. Throws FileError, and
  // FormatError for a bitext without a pair of sentences.
  WordAligner(const Bitext& bitext, const AlignOptions& options, const std::string& folder);

  // Returns the number of pairs that it has learned from.
  std::size_t train(const AlignProgress& progress);

  // Returns the lines of the pairs from `first` to `last`.
  LinkLines lines(std::size_t first, std::size_t last, Heuristic heuristic) const;
  // What was learned.
  const Directions& directions() const { return directions_; }

 private:
  const Bitext& bitext_;
  AlignOptions options_;
  std::string folder_;
  PairSample sample_;
  std::array<std::vector<FileArray<LinkPosition>>, 2> links_;  // of each direction and sampler, in the end
  Directions directions_;
};

}  // namespace hiero
