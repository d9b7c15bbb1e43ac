// Replaces Boost's header of this name: boost::ptr_vector, a vector of pointers that owns the objects and
// gives access to them. It can be appended to, cleared and iterated, but not copied. KenLM also gets
// boost::scoped_array from this header.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include <boost/scoped_array.hpp>

namespace boost {

template <class T>
class ptr_vector {
  using Base = typename std::vector<std::unique_ptr<T>>::iterator;

 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;
    explicit iterator(Base at) : at_(at) {}

    T& operator*() const { return **at_; }
    T* operator->() const { return at_->get(); }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    bool operator==(const iterator&) const = default;

   private:
    Base at_;
  };

  void push_back(T* owned) { owned_.push_back(std::unique_ptr<T>(owned)); }
  void clear() { owned_.clear(); }
  bool empty() const { return owned_.empty(); }
  T& front() { return *owned_.front(); }
  T& back() { return *owned_.back(); }
  iterator begin() { return iterator(owned_.begin()); }
  iterator end() { return iterator(owned_.end()); }

 private:
  std::vector<std::unique_ptr<T>> owned_;
};

}  // namespace boost
