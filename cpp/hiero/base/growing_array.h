// An array that grows at its end, for plain data by the hundred megabytes: where the system can move pages
// instead of copying them, growing never holds the contents twice, as std::vector does.
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

  // Room for `count` more at the end, to be written by the caller.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    T* const at = data() + size_;
    size_ += count;
    return at;
  }
  void push_back(const T& item) { *extend(1) = item; }
  // Keeps the memory; release() does not.
  void clear() { size_ = 0; }
  void release() {
    data_.reset();
    size_ = capacity_ = 0;
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  void grow(std::size_t least) {
    constexpr std::size_t kFirst = 4096;
    std::size_t capacity = capacity_ + capacity_ / 8 + kFirst;
    if (capacity < least) capacity = least;
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
