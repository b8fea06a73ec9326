// Facts about the host that back ends need.
#include <seidel/formats/runtime/backend.hpp>

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

namespace seidel {

namespace {

/// Processors' worth of time that the container's group may use, rounded up; a large number where there is no quota.
int quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double most = 0, period = 0;
  return file >> most >> period && period > 0 ? std::max(1, int((most + period - 1) / period)) : 1 << 20;
}

}  // namespace

int available_threads() {
  cpu_set_t mask;
  const int allowed = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : omp_get_num_procs();
  return std::max(1, std::min({allowed, omp_get_max_threads(), quota()}));
}

}  // namespace seidel
