// How many threads there are, and what each of them does.
#include <seidel/formats/runtime/parallel.hpp>

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <fstream>

#include <seidel/formats/runtime/shares.hpp>

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

void parallel_parts(const OpenMP& on, FunctionRef<int, int> body) {
  if (on.threads <= 1) return body(0, 1);
  std::exception_ptr thrown;
#pragma omp parallel num_threads(on.threads)
  try {
    body(omp_get_thread_num(), omp_get_num_threads());
  } catch (...) {
#pragma omp critical(seidel_parallel_parts)
    thrown = std::current_exception();
  }
  if (thrown) std::rethrow_exception(thrown);
}

void for_shares(const OpenMP& on, std::int64_t n, std::int64_t weight,
                FunctionRef<std::int64_t, std::int64_t, int> body) {
  if (on.threads <= 1 || n < 2 || n < 2 * worth_per_thread / weight) return body(0, n, 0);
  parallel_parts(on, [&](int part, int nparts) {
    const Range mine = even_share(n, part, nparts);
    body(mine.first, mine.last, part);
  });
}

template <class Offset>
void for_row_shares(const OpenMP& on, HostSpan<const Offset> row_ptr, FunctionRef<std::int64_t, std::int64_t> body) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  if (on.threads <= 1 || nrows < 2 || nrows + row_ptr[nrows] < 2 * worth_per_thread) return body(0, nrows);
  parallel_parts(on, [&](int part, int nparts) {
    const Range mine = share_by_nonzeros(row_ptr, part, nparts);
    body(mine.first, mine.last);
  });
}
template void for_row_shares(const OpenMP&, HostSpan<const std::int32_t>, FunctionRef<std::int64_t, std::int64_t>);
template void for_row_shares(const OpenMP&, HostSpan<const std::int64_t>, FunctionRef<std::int64_t, std::int64_t>);

void for_each_in_turn(const OpenMP& on, std::int64_t n, FunctionRef<std::int64_t, int> body) {
  if (on.threads <= 1 || n < 2) {
    for (std::int64_t i = 0; i < n; ++i) body(i, 0);
    return;
  }
  std::atomic<std::int64_t> next = 0;
  parallel_parts(on, [&](int part, int) {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) body(i, part);
  });
}

}  // namespace seidel
