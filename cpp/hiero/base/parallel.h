// A loop over numbers that several threads share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "hiero/base/interrupt.h"
#include "hiero/base/joining_thread.h"

namespace hiero {

// Calls work(i, worker) for i = 0, ..., count - 1, in any order. The worker, from 0 to threads - 1, calls for
// one number at a time. Throws the first exception of a call, after which no more are begun. The calling
// thread is worker 0, and alone polls for interrupts.
template <class Work>
void parallel_for(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        if (worker == 0) poll_interrupts();
        work(i, worker);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<JoiningThread> others;
    for (std::size_t worker = 1; worker < std::min(threads, count); ++worker)
      others.emplace_back(run, worker);
    run(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace hiero
