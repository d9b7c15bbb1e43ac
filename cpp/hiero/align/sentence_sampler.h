// Gibbs sampling of the links of a sentence pair in one direction: each link in turn is drawn given all
// others.
//
// How to use:
//   1. DirectionTables tables(model.view(), stage, longest);
//      SentenceSampler sampler(tables);             // for many sentences, but one at a time
//   2. sampler.begin(source, target, links, true);  // looks words up; `links` are where it starts
//   3. sampler.sweep(links, random);                // as often as wanted
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hiero/align/direction_model.h"
#include "hiero/align/random.h"

namespace hiero {

// What a sweep takes into account. Simpler models come first, to begin with.
enum class AlignStage { kLexical, kJumps, kFertilities };

// What all samplers of a model have in common: probabilities, but for constant factors.
class DirectionTables {
 public:
  // `longest` is the length of the longest source sentence. The model must outlive the tables, and its jumps
  // may not change.
  DirectionTables(const DirectionView& model, AlignStage stage, std::size_t longest);

  // Takes over the model's jumps.
  void update_jumps();
  // Lets source sentences be as long as this.
  void fit(std::size_t longest);

 private:
  friend class SentenceSampler;

  DirectionView model_;
  AlignStage stage_;
  std::ptrdiff_t longest_;
  // Of jumps by -longest to longest, and in the opposite order.
  std::vector<float> jumps_, reversed_;
  float jump_total_ = 0;
};

class SentenceSampler {
 public:
  explicit SentenceSampler(const DirectionTables& tables) : tables_(&tables) {}

  // Begins with a pair and its links. If the model has counted these, every target word leaves its own out of
  // what it knows.
  void begin(std::span<const WordId> source, std::span<const WordId> target,
             std::span<const LinkPosition> links, bool counted);

  // Draws each link once.
  void sweep(std::span<LinkPosition> links, Random& random) { sweep(links, random, {}); }
  // As well adds the probabilities of the positions of each target word, and at last of no link, to the rows
  // of a matrix (target words, source words + 1).
  void sweep(std::span<LinkPosition> links, Random& random, std::span<float> probabilities);

 private:
  void update_gain(std::size_t position);
  float weigh(const float* lexical, std::ptrdiff_t before, std::ptrdiff_t next);

  const DirectionTables* tables_;
  std::span<const WordId> source_;
  std::size_t columns_ = 0;  // source words + 1
  std::vector<WordId> words_;
  std::vector<float> factors_;
  std::vector<float> lexical_;              // by target word: of each source word, and of the empty word
  std::vector<std::uint16_t> fertilities_;  // of source words
  std::vector<float> gains_;                // by source word: of one more link
  std::vector<LinkPosition> next_;          // by target word: the position of the next link
  std::vector<float> sums_;
};

}  // namespace hiero
