// Signal handlers can reach nothing but a global: the one the program has.
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>

#include <seidel/drivers/signals.hpp>

namespace seidel::drivers {

namespace {

std::atomic<bool> stop{false};
std::atomic<std::int64_t> first_ns{0};  // when the first signal came; 0 before
volatile std::sig_atomic_t talks = 0;
constexpr std::string_view said =
    "\nseidel: stops after the current step (the setup or an iteration); once more stops at once\n";
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler must not wait for a lock");

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

/// A second signal at once is the same one: timeout(1) sends it to the process, and then to its group.
extern "C" void request_stop(int signal) {
  constexpr std::int64_t at_once_ns = 200'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ns = std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  std::int64_t first = 0;
  if (first_ns.compare_exchange_strong(first, now_ns)) {
    stop.store(true);
    const int kept = errno;  // of what was interrupted
    if (talks) (void)!::write(STDERR_FILENO, said.data(), said.size());
    errno = kept;
    return;
  }
  if (now_ns - first < at_once_ns) return;
  handle(signal, SIG_DFL);
  raise(signal);  // ends the process when this returns
}

}  // namespace

StopOnSignal::StopOnSignal(bool quiet) {
  first_ns = 0;
  talks = !quiet && isatty(STDERR_FILENO);
  handle(SIGINT, request_stop);
  handle(SIGTERM, request_stop);
}
StopOnSignal::~StopOnSignal() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& stop_requested() { return stop; }

}  // namespace seidel::drivers
