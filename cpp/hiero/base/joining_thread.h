// A thread that is waited for where it goes out of scope, as std::jthread is, which libc++ does not have yet.
#pragma once

#include <thread>
#include <utility>

namespace hiero {

class JoiningThread {
 public:
  template <class Work, class... Arguments>
  explicit JoiningThread(Work&& work, Arguments&&... arguments)
      : thread_(std::forward<Work>(work), std::forward<Arguments>(arguments)...) {}
  JoiningThread(JoiningThread&&) = default;
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace hiero
