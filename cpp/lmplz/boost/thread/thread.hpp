// Replaces Boost's header of this name: boost::thread, which starts with arguments and joins, and boost::ref
// with its reference_wrapper.
//
// Boost calls the function as boost::bind does: with copies of the arguments as lvalues, and with the object
// itself for a reference_wrapper. std::thread does neither; std::bind does both.
#pragma once

#include <functional>
#include <thread>

#include <boost/thread/mutex.hpp>

namespace boost {

using std::ref;
using std::reference_wrapper;

class thread {
 public:
  template <class Function, class... Arguments>
  explicit thread(Function function, const Arguments&... arguments)
      : thread_(std::bind(function, arguments...)) {}

  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace boost
