// Replaces Boost's header of this name: boost::interprocess::interprocess_semaphore with wait() and post(),
// for the threads of one process, and the exception that KenLM catches, which is never thrown here.
//
// std::counting_semaphore cannot be used: its waiters may sleep for ever in libstdc++ before 13 (GCC bug
// 104928).
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

namespace boost::interprocess {

class interprocess_exception : public std::exception {
 public:
  int get_native_error() const { return 0; }
};

class interprocess_semaphore {
 public:
  explicit interprocess_semaphore(unsigned count) : count_(count) {}

  void wait() {
    std::unique_lock lock(mutex_);
    positive_.wait(lock, [this] { return count_ > 0; });
    --count_;
  }

  void post() {
    const std::lock_guard lock(mutex_);
    ++count_;
    positive_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable positive_;
  unsigned count_;
};

}  // namespace boost::interprocess
