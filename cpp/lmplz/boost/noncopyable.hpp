// Replaces Boost's header of this name: the base class boost::noncopyable.
#pragma once

namespace boost {

class noncopyable {
 public:
  noncopyable(const noncopyable&) = delete;
  noncopyable& operator=(const noncopyable&) = delete;

 protected:
  noncopyable() = default;
  ~noncopyable() = default;
};

}  // namespace boost
