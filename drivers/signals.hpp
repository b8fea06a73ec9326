// Ctrl-C as a request that solvers can see.
#pragma once
#include <atomic>

namespace seidel::drivers {

/// While it lives, the first SIGINT or SIGTERM only sets stop_requested(); a second one ends the process, as ever,
/// unless it comes within 0.2 s. A person at a terminal is told of both, since a setup may take a while to end.
class StopOnSignal {
 public:
  explicit StopOnSignal(bool quiet = false);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
};

const std::atomic<bool>& stop_requested();

}  // namespace seidel::drivers
