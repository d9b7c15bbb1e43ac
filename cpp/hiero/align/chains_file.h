// A file of the trained chains of one shard of word alignment, so that shards can be trained by several
// processes. A chain is one sampler of one direction: chain c is sampler c % samplers of direction
// c / samplers, and belongs to shard c % n of n shards.
//
// It is a file of parts (parts_file.h): first the FrozenDirection of each chain of the shard, then of each
// the LinkPosition of each target word of its direction. Its head are a ChainsBasis and a Shard.
//
// How to use:
//   1. ChainsFile::save(path, basis, shard, chains);  // chains of the shard, in order
//   2. ChainsFile file(path);                         // mapped; chains are used from where they are
//   3. if (file.basis() == basis) file.chains() ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/align/direction_model.h"
#include "hiero/base/parts_file.h"
#include "hiero/base/shard.h"

namespace hiero {

// The version changes as well when the same seed trains other chains: chains of two programs must not be
// mixed.
inline constexpr PartsKind kChains{
    {'H', 'I', 'E', 'R', 'O', 'C', 'H', '\n'}, 1, "chains of word alignment", "align again"};

// What chains depend on: those of the same basis belong together.
struct ChainsBasis {
  std::uint64_t seed = 0;
  std::uint64_t samplers = 0;  // of each direction
  // That were learned from. More memory only adds pairs to a sample, so that samples of the same seed and
  // bitext with as many pairs are the same.
  std::uint64_t pairs = 0;
  std::uint64_t bitext = 0;  // its checksum

  bool operator==(const ChainsBasis&) const = default;
};

// A trained chain, whose contents lie elsewhere.
struct ChainView {
  std::span<const std::byte> model;     // the bytes of a FrozenDirection
  std::span<const LinkPosition> links;  // of all pairs, one after the other
};

class ChainsFile {
 public:
  // Writes a file, in full or not at all. Throws FileError.
  static void save(const std::string& path, const ChainsBasis& basis, const Shard& shard,
                   std::span<const ChainView> chains);

  // Opens a file and checks all of it. Throws FileError, or FormatError for a file of another kind or
  // version, or one that is truncated or damaged.
  explicit ChainsFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const ChainsBasis& basis() const { return basis_; }
  const Shard& shard() const { return shard_; }
  // The chains of the shard, in order, which are valid as long as the file is open.
  std::span<const ChainView> chains() const { return chains_; }

  // Throws the FormatError for a file whose contents contradict the bitext.
  [[noreturn]] void throw_damaged() const { file_.throw_damaged(); }

 private:
  void read_head();

  PartsFile file_;
  ChainsBasis basis_;
  Shard shard_;
  std::vector<ChainView> chains_;
};

}  // namespace hiero
