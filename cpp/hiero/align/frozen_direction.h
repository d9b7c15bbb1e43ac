// What one sampler learned about one direction, in one piece of memory: links and their totals as sums over
// sweeps, jumps and fertilities. It lies in a file without a name, so that it need not fit into memory, or in
// a mapped file of an alignment model.
//
//   FrozenHeader
//   begins         u64 [target words + 2]: the first slot of each target word
//   slots          LinkSlot [slots]
//   totals         u32 [source words + 1], and zeros up to a multiple of 8 bytes
//   fertilities    Fertilities [source words + 1]
//
// Each side has one word more than were counted, of which nothing is known: all unknown words are it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hiero/align/direction_model.h"
#include "hiero/base/file_array.h"

namespace hiero {

struct FrozenHeader {
  std::uint64_t source_words;  // with the empty word, without the unknown one
  std::uint64_t target_words;
  std::uint64_t slots;
  JumpCounts jumps;
};

class FrozenDirection {
 public:
  // Copies a model into a file in `folder`. Throws FileError.
  FrozenDirection(const DirectionModel& model, const std::string& folder);
  // Reads one from the beginning of a piece of memory, which must outlive it and be aligned to 8 bytes.
  // Throws Error where it is too short. What it says is not checked.
  explicit FrozenDirection(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const;
  std::size_t source_words() const { return header().source_words; }
  std::size_t target_words() const { return header().target_words; }
  DirectionView view() const;

 private:
  const FrozenHeader& header() const { return *reinterpret_cast<const FrozenHeader*>(data()); }
  const std::byte* data() const { return own_ ? own_->data() : mapped_; }

  std::optional<FileBytes> own_;
  const std::byte* mapped_ = nullptr;
};

}  // namespace hiero
