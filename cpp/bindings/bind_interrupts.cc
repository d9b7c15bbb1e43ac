#include <chrono>

#include "bindings.h"
#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{50};  // between checks, which take Python's lock

unsigned long main_thread;  // Python's id of the thread that handles signals

// Lets Ctrl-C end work of the core in the main thread. Work in other threads is ended by the thread that
// waits for it.
void poll_signals() {
  thread_local const bool is_main = PyThread_get_thread_ident() == main_thread;
  if (!is_main) return;
  thread_local Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < kPause) return;
  last = now;
  const nb::gil_scoped_acquire acquire;
  check_signals();
}

}  // namespace

void register_interrupts() {
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  interrupt_hook = poll_signals;
}

}  // namespace hiero
