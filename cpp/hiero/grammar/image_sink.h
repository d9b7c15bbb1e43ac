// The destination of a table. Pieces come in any order, and every byte is written at most once; all other
// bytes must be zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hiero {

class ImageSink {
 public:
  virtual ~ImageSink() = default;
  // Called once, before all others.
  virtual void allocate(std::uint64_t length) = 0;
  virtual void write(std::uint64_t offset, const void* data, std::size_t size) = 0;
  // Reads bytes that were written before.
  virtual void read(std::uint64_t offset, void* data, std::size_t size) const = 0;
};

}  // namespace hiero
