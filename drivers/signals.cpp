// Signal handlers can reach nothing but a global: the one the program has.
#include <csignal>

#include <seidel/drivers/signals.hpp>

namespace seidel::drivers {

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

extern "C" void request_stop(int) { stop.store(true); }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags =
      SA_RESTART | (handler == SIG_DFL ? 0 : int(SA_RESETHAND));  // the second one finds the default again
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopOnSignal::StopOnSignal() {
  handle(SIGINT, request_stop);
  handle(SIGTERM, request_stop);
}
StopOnSignal::~StopOnSignal() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& stop_requested() { return stop; }

}  // namespace seidel::drivers
