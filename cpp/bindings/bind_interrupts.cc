#include <chrono>

#include "bindings.h"
#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{50};  // between two looks, for which Python's lock is taken

unsigned long main_thread;  // as Python knows it: signals are its business alone

// Lets Ctrl-C end what the core does for the main thread. Whoever waits for other threads sees it himself.
void poll_signals() {
  thread_local const bool mine = PyThread_get_thread_ident() == main_thread;
  if (!mine) return;
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
