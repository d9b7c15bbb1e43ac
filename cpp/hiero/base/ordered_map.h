// A pipeline over a stream of items: one thread reads them and takes the results in the order of reading, and
// several work on them in between.
//
// How to use: ordered_map<Item>(threads, read, work, take);
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "hiero/base/interrupt.h"
#include "hiero/base/joining_thread.h"

namespace hiero {

// For every item: calls read(item), which returns false at the end, then work(item, worker), then take(item).
// Only the calling thread reads and takes, in order; it also works, as worker 0, when nothing is to be taken
// and enough was read ahead. The worker, from 0 to threads - 1, works on one item at a time. Items are used
// again, with what is in them. Throws the first exception of a call, after which no more are begun.
// At most `kAhead` items for each thread are in memory at once.
template <class Item, std::size_t kAhead = 4, class Read, class Work, class Take>
void ordered_map(std::size_t threads, const Read& read, const Work& work, const Take& take) {
  enum class State { kFree, kRead, kDone };
  struct Place {
    Item item{};
    State state = State::kFree;
  };
  std::vector<Place> places(threads == 1 ? 1 : kAhead * threads);
  std::mutex mutex;
  std::condition_variable changed;
  // Numbers of the next items to be read, worked on and taken. Each item is in the place number % size.
  std::size_t to_read = 0;
  std::size_t to_work = 0;
  std::size_t to_take = 0;
  bool at_end = false;
  std::exception_ptr error;
  const auto place = [&](std::size_t number) -> Place& { return places[number % places.size()]; };
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
    at_end = true;
    changed.notify_all();
  };
  // Works on the next item that was read. `lock` is held before and after.
  const auto work_on_one = [&](std::unique_lock<std::mutex>& lock, std::size_t worker) {
    Place& mine = place(to_work++);
    lock.unlock();
    work(mine.item, worker);
    lock.lock();
    mine.state = State::kDone;
    changed.notify_all();
  };
  const auto help = [&](std::size_t worker) {
    try {
      std::unique_lock lock(mutex);
      while (true) {
        changed.wait(lock, [&] { return to_work < to_read || at_end; });
        if (error || to_work == to_read) return;
        work_on_one(lock, worker);
      }
    } catch (...) {
      fail();
    }
  };
  {
    std::vector<JoiningThread> helpers;
    try {
      for (std::size_t worker = 1; worker < threads; ++worker) helpers.emplace_back(help, worker);
      std::unique_lock lock(mutex);
      while (!error && (!at_end || to_take < to_read)) {
        poll_interrupts();
        if (to_take < to_read && place(to_take).state == State::kDone) {
          Place& first = place(to_take);
          lock.unlock();
          take(first.item);
          lock.lock();
          first.state = State::kFree;
          ++to_take;
        } else if (!at_end && to_read < to_take + places.size()) {
          Place& next = place(to_read);
          lock.unlock();
          const bool is_read = read(next.item);
          lock.lock();
          at_end = at_end || !is_read;
          if (is_read) {
            next.state = State::kRead;
            ++to_read;
          }
          changed.notify_all();
        } else if (to_work < to_read) {
          work_on_one(lock, 0);
        } else {
          changed.wait(lock, [&] { return error || place(to_take).state == State::kDone; });
        }
      }
    } catch (...) {
      fail();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace hiero
