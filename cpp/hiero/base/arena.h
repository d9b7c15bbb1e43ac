// A bump allocator for trivially destructible objects: allocation moves a pointer, and all objects are freed
// together.
//
// How to use:
//   1. Arena arena;                                  // one per thread
//   2. Item* item = arena.make<Item>(...);           // or arena.array<Item>(n), uninitialised
//   3. arena.reset();                                // frees all objects; their pointers are invalid now
// reset() keeps the first 64 MB for the next sentence.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace hiero {

class Arena {
 public:
  // Returns an uninitialised array of n objects.
  template <class T>
  T* array(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= kAlign);
    return static_cast<T*>(allocate(n * sizeof(T)));
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    return ::new (array<T>(1)) T{std::forward<Args>(args)...};
  }

  void reset() {
    if (blocks_.size() > kMaxReusedBlocks) blocks_.resize(kMaxReusedBlocks);
    current_ = 0;
    set_block();
  }

 private:
  static constexpr std::size_t kAlign = 16;
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxReusedBlocks = 64;

  struct Block {
    std::unique_ptr<std::byte[]> data;
    std::size_t size;
  };

  void* allocate(std::size_t bytes) {
    bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
    if (static_cast<std::size_t>(end_ - next_) < bytes) grow(bytes);
    void* const memory = next_;
    next_ += bytes;
    return memory;
  }

  void grow(std::size_t bytes) {
    // The rest of the current block stays unused until reset(). A request larger than a block gets a block
    // of its size.
    if (!blocks_.empty() && end_ != nullptr) ++current_;
    while (current_ < blocks_.size() && blocks_[current_].size < bytes) ++current_;
    if (current_ >= blocks_.size()) {
      const std::size_t size = bytes > kBlockBytes ? bytes : kBlockBytes;
      blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
      current_ = blocks_.size() - 1;
    }
    set_block();
  }

  void set_block() {
    if (current_ < blocks_.size()) {
      next_ = blocks_[current_].data.get();
      end_ = next_ + blocks_[current_].size;
    }
  }

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace hiero
