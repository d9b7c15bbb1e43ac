// Stands in for Boost's header of this name: boost::thread to start with arguments and to join, and
// boost::ref with its reference_wrapper.
//
// Boost calls the function as boost::bind would: on copies of the arguments as lvalues, and on the object
// itself where a reference_wrapper was given. std::thread does neither; std::bind does both.
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
