// The order of rows within what one thread sweeps at a stretch: slices of 8 rows that do not need each other, whose
// sums are computed side by side. A sweep row after row waits for the arithmetic of the row before, most of the time.
#pragma once
#include <vector>

#include <seidel/kernels/symgs/schedule.hpp>

namespace seidel::symgs_detail {

inline constexpr int slice_height = 8;

/// Places first ... last - 1, whose rows have `lower` entries left of the diagonal each, and `upper` right of it.
/// In slices: 8 rows by 8, none of which depends on another of its slice or has more than short_sum entries on a side.
/// Otherwise row after row: slices of height 1.
struct Run {
  Index first, last, lower, upper;
  Index height;  // of its slices; count() is a multiple of it
  /// Where its entries begin in each triangle, whose slices stand in the order in which a pair of sweeps reads them:
  /// the lower ones from first to last, the upper ones from last to first. Entry k of lane l is entry
  /// height * k + l of the slice.
  std::int64_t lower_at, upper_at;

  std::int64_t count() const { return last - first; }
  std::int64_t lower_of_slice(std::int64_t place) const { return lower_at + (place - first) * lower; }
  std::int64_t upper_of_slice(std::int64_t place) const { return upper_at + (last - height - place) * upper; }
};

/// Reorders the rows of each task of the schedule, and says how. Dependencies are those of A and A'.
/// Cost  one pass over the pattern, in parallel.
template <class Offset>
[[gnu::used]] std::vector<Run> cut_into_runs(const OpenMP& on, HostSpan<const Offset> row_ptr,
                                             HostSpan<const Index> col_idx, Schedule& schedule);

}  // namespace seidel::symgs_detail
