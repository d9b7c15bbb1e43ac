// A moment after which long work ends with what it has. Any thread may bring it forward to now.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace hiero {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // The moment is so many seconds from now.
  explicit Deadline(double seconds)
      : moment_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, kLongest)))) {}

  bool passed() const { return expired_.load(std::memory_order_relaxed) || Clock::now() >= moment_; }
  void expire() { expired_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr double kLongest = 1e9;  // seconds

  Clock::time_point moment_;
  std::atomic<bool> expired_{false};
};

}  // namespace hiero
