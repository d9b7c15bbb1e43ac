// A hook by which the program that uses this library interrupts long work, as Python does for Ctrl-C.
//
// How to use: the program sets interrupt_hook once; long loops call poll_interrupts(). The hook may throw,
// and the exception leaves the loop. It is called on whatever thread runs the loop.
#pragma once

#include <atomic>

namespace hiero {

using InterruptHook = void (*)();

inline std::atomic<InterruptHook> interrupt_hook{nullptr};

inline void poll_interrupts() {
  if (const InterruptHook hook = interrupt_hook.load(std::memory_order_relaxed)) hook();
}

}  // namespace hiero
