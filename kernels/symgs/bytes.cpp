// What sweeps on the host will hold, counted from their order: see host.cpp, which makes them.
#include <seidel/kernels/symgs/bytes.hpp>

#include <seidel/kernels/symgs/slices.hpp>

namespace seidel::symgs_detail {

template <class Offset>
std::int64_t sweep_bytes(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                         int bytes_per_value) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  Schedule schedule = on.threads > 1 ? Schedule(on, row_ptr, col_idx) : Schedule(nrows);
  std::int64_t bytes = 2 * nrows * bytes_per_value + sizeof(std::int64_t);  // reciprocals, t; the end of first_run
  schedule.each_stretch([&](auto, auto) { bytes += sizeof(std::int64_t); });
  bytes += 2 * (slice_height - 1) * bytes_per_value;  // beyond the ends of the triangles
  for (const Run& run : cut_into_runs(on, row_ptr, col_idx, schedule))
    bytes += std::int64_t(sizeof(Run)) +
             (run.lower + run.upper) *
                 (run.count() * bytes_per_value + run.rows_with_columns() * std::int64_t(sizeof(Index)));
  return bytes + schedule.bytes();
}

template std::int64_t sweep_bytes(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, int);
template std::int64_t sweep_bytes(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>, int);

}  // namespace seidel::symgs_detail
