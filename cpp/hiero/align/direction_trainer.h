// Learns the model of one direction of word alignment from a bitext by Gibbs sampling.
//
// The pairs are divided into groups. The links of a group are drawn given the links of all pairs before, by
// any number of threads, and are counted before the next group. A group consists of shards of a fixed size,
// which have random numbers of their own, so that the number of threads changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "hiero/align/bitext.h"
#include "hiero/align/direction_model.h"
#include "hiero/align/pair_sample.h"
#include "hiero/align/sentence_sampler.h"
#include "hiero/base/file_array.h"

namespace hiero {

// One direction of a bitext: every word of `target` is linked with at most one word of `source`. Only the
// pairs of a sample that have words on both sides are linked.
struct DirectedBitext {
  const BitextSide& source;
  const BitextSide& target;
  PairSample sample;

  bool has(std::size_t pair) const {
    return source.length(pair) > 0 && target.length(pair) > 0 && sample.has(pair);
  }
};

class DirectionTrainer {
 public:
  // Begins with random links, which lie in a file in `folder`. Throws FileError.
  DirectionTrainer(const DirectedBitext& bitext, std::uint64_t seed, std::size_t threads,
                   const std::string& folder);

  // Returns the number of sweeps, which falls with the square root of the number of pairs.
  int sweeps() const;
  // Draws all links once. Call it as often as there are sweeps.
  void sweep();

  // What the present links are counted in.
  const DirectionModel& model() const { return model_; }
  // Returns the model to align with, as it is after the last sweep: links and their totals are sums over all
  // sweeps of the last stage, jumps and fertilities are those of the last sweep. The trainer can sweep no
  // more.
  DirectionModel take_model();
  // Returns the links of all pairs, one after the other; those of pairs that are not linked say nothing.
  FileArray<LinkPosition> take_links() { return std::move(links_); }
  std::span<const LinkPosition> links(std::size_t pair) const {
    return links_.items().subspan(bitext_.target.begin(pair), bitext_.target.length(pair));
  }

 private:
  void draw(std::size_t first, std::size_t last, const DirectionTables& tables);
  void count(std::size_t first, std::size_t last, std::span<const LinkPosition> old);
  std::size_t counters(std::size_t words) const;
  void count_fertilities();
  void add_to_sums();

  DirectedBitext bitext_;
  std::uint64_t seed_;
  std::size_t threads_;
  std::size_t pairs_ = 0;    // that are linked
  std::size_t longest_ = 0;  // source sentence
  FileArray<LinkPosition> links_;
  DirectionModel model_;
  DirectionModel sums_;  // of links and totals
  int done_ = 0;
};

}  // namespace hiero
