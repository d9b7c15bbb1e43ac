// Lets the program around this library end long work: a hook, called every now and then, that may throw.
#pragma once

#include <atomic>

namespace hiero {

using InterruptHook = void (*)();

inline std::atomic<InterruptHook> interrupt_hook{nullptr};

inline void poll_interrupts() {
  if (const InterruptHook hook = interrupt_hook.load(std::memory_order_relaxed)) hook();
}

}  // namespace hiero
