// A std::vector for hundreds of megabytes of trivially copyable data. It grows by realloc, which moves pages
// instead of copying them where the system can; std::vector holds its contents twice while it grows.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace hiero {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

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
    data_.reset();
    size_ = capacity_ = 0;
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  void grow(std::size_t min_capacity) {
    constexpr std::size_t kFirstCapacity = 4096;
    std::size_t capacity = capacity_ + capacity_ / 8 + kFirstCapacity;
    if (capacity < min_capacity) capacity = min_capacity;
    T* const moved = static_cast<T*>(std::realloc(data_.get(), capacity * sizeof(T)));
    if (!moved) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(moved);
    capacity_ = capacity;
  }

  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hiero
