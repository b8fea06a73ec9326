// How work is shared out among the threads of a host back end. Shares never change a result: each part computes what it
// would compute alone.
#pragma once
#include <omp.h>

#include <algorithm>
#include <exception>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel {

struct Range {
  std::int64_t first, last;
};

/// Part `part` of `nparts` of 0 ... n-1.
inline Range even_share(std::int64_t n, int part, int nparts) {
  const std::int64_t size = n / nparts, rest = n % nparts;  // no product, so no overflow
  const std::int64_t first = part * size + std::min<std::int64_t>(part, rest);
  return {first, first + size + (part < rest)};
}

/// Part `part` of `nparts` of the rows, so that rows + nonzeros are even.
template <class Offset>
Range share_by_nonzeros(HostSpan<const Offset> row_ptr, int part, int nparts) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  if (nrows == 0 || nparts == 1) return {0, nrows};
  const auto row_at = [&](int p) {  // first row at which rows + nonzeros before it reach p / nparts of all
    const std::int64_t target = even_share(nrows + row_ptr[nrows] - row_ptr[0], p, nparts).first;
    return partition_point(std::int64_t(0), nrows, [&](auto row) { return row + row_ptr[row] - row_ptr[0] < target; });
  };
  return {row_at(part), part + 1 == nparts ? nrows : row_at(part + 1)};
}

/// Calls body(part, nparts) once on each thread. What a body throws is thrown on, one of them if there are several.
template <class Body>
void parallel_parts(const OpenMP& on, const Body& body) {
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

/// Below this many elements waking the threads costs more than they save.
inline constexpr std::int64_t worth_per_thread = 8192;

/// Calls body(first, last) for shares of 0 ... n-1, compiled for this processor (with_avx2).
template <HostBackend On, class Body>
void parallel_for(const On& on, std::int64_t n, const Body& body) {
  const auto part_of = [&](int part, int nparts) {  // one for one thread and for many: each is compiled twice
    const Range mine = even_share(n, part, nparts);
    with_avx2([&] { body(mine.first, mine.last); });
  };
  on.threads <= 1 || n < 2 * worth_per_thread ? part_of(0, 1) : parallel_parts(on, part_of);
}

/// The same for the rows of a CSR matrix, shared out by nonzeros.
template <HostBackend On, class Offset, class Body>
void parallel_for_rows(const On& on, HostSpan<const Offset> row_ptr, const Body& body) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  const auto part_of = [&](int part, int nparts) {
    const Range mine = share_by_nonzeros(row_ptr, part, nparts);
    with_avx2([&] { body(mine.first, mine.last); });
  };
  const bool few = on.threads <= 1 || nrows == 0 || nrows + row_ptr[nrows] < 2 * worth_per_thread;
  few ? part_of(0, 1) : parallel_parts(on, part_of);
}

}  // namespace seidel
