// A std::vector for hundreds of megabytes of trivially copyable data. Growing moves pages instead of copying
// them where the system can; std::vector holds its contents twice while it grows.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "hiero/base/large_memory.h"

namespace hiero {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  ~GrowingArray() { release(); }
  GrowingArray(GrowingArray&& other) noexcept { *this = std::move(other); }
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  // Adds `count` uninitialised elements at the end and returns the first of them, for the caller to write.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    T* const first = data() + size_;
    size_ += count;
    return first;
  }
  void push_back(const T& item) { *extend(1) = item; }
  // Removes all elements and keeps the memory.
  void clear() { size_ = 0; }
  // Removes all elements and frees the memory.
  void release() {
    free_memory(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  void grow(std::size_t min_capacity) {
    constexpr std::size_t kFirstCapacity = 4096;
    std::size_t capacity = capacity_ + capacity_ / 8 + kFirstCapacity;
    if (capacity < min_capacity) capacity = min_capacity;
    data_ = static_cast<T*>(grow_memory(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hiero
