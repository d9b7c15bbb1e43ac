// Word alignment of a bitext in both directions, by eflomal's model (Östling and Tiedemann 2016).
//
// How to use:
//   1. WordAligner aligner(bitext, options, folder);
//   2. aligner.train(progress);
//   3. aligner.lines(0, bitext.pairs(), heuristic).links;  // lines such as "0-0 1-2"
//   4. AlignmentModel::save(path, bitext, aligner.directions());
// How to train in several processes, with the same results:
//   2. In each: aligner.train(progress, {i, n}); aligner.save_chains(path);
//      then in one: aligner.take_chains(paths);
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/align/chains_file.h"
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
  // Bytes for the counts of a sampler. If they have no room for all pairs, the samplers learn from some of
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

  // Call either train or take_chains, once. Both return the number of pairs that every chain learns from.
  //
  // Trains the chains of a shard, which may have none.
  std::size_t train(const AlignProgress& progress, const Shard& shard = {});
  // Takes all chains from files, in place of training. Throws FileError, and FormatError for files that are
  // not of this bitext and these options, or have the same chains, and if a chain is in none of them.
  std::size_t take_chains(std::span<const std::string> paths);

  // Writes the chains of the shard. Throws FileError.
  void save_chains(const std::string& path) const;

  // Whether all chains are there, not only those of a shard. What follows is for then.
  bool is_complete() const { return chains_.size() == chain_count(); }
  // Returns the lines of the pairs from `first` to `last`.
  LinkLines lines(std::size_t first, std::size_t last, Heuristic heuristic) const;
  // What was learned.
  const Directions& directions() const { return directions_; }

 private:
  std::size_t samplers() const { return static_cast<std::size_t>(options_.samplers); }
  std::size_t chain_count() const { return directions_.size() * samplers(); }
  // Returns the numbers of the chains of a shard.
  std::vector<std::size_t> chains_of(const Shard& shard) const;
  ChainsBasis basis() const;
  bool fits(const ChainView& chain, std::size_t direction) const;

  const Bitext& bitext_;
  AlignOptions options_;
  std::string folder_;
  PairSample sample_;
  std::size_t pairs_;  // to learn from
  Shard shard_;
  Directions directions_;
  std::vector<ChainView> chains_;               // of the shard, in order
  std::vector<FileArray<LinkPosition>> links_;  // of chains that were trained
  std::deque<ChainsFile> files_;                // of chains that were taken
};

}  // namespace hiero
