// The order of rows within what one thread sweeps at a stretch: slices of 8 rows that do not need each other, whose
// sums are computed side by side. A sweep row after row waits for the arithmetic of the row before, most of the time.
#pragma once
#include <vector>

#include <seidel/kernels/symgs/host/schedule.hpp>

namespace seidel::symgs_detail {

inline constexpr int slice_height = 8;

/// Places first ... last - 1, whose rows have `lower` entries left of the diagonal each, and `upper` right of it.
/// In slices of `height` rows, 2 to 8, none of which depends on another of its slice or has more than short_sum entries
/// on a side. Otherwise row after row: slices of height 1.
struct Run {
  Index first, last, lower, upper;
  Index height;  // of its slices; count() is a multiple of it
  bool shifted;  // all its rows have the columns of the first one, shifted with the diagonal; not for height 1
  /// Where its entries begin in each triangle, whose slices stand in the order in which a pair of sweeps reads them:
  /// the lower ones from first to last, the upper ones from last to first. Entry k of lane l is entry
  /// height * k + l of the slice.
  std::int64_t lower_at = 0, upper_at = 0;
  /// The same of their columns; a shifted run has those of one row only, less the row.
  std::int64_t lower_columns_at = 0, upper_columns_at = 0;

  std::int64_t count() const { return last - first; }
  std::int64_t slices() const { return count() / height; }
  std::int64_t rows_with_columns() const { return shifted ? 1 : count(); }
  /// Before slice s, counted from the first, or from the last.
  std::int64_t before(std::int64_t s, Index length) const { return s * height * length; }
  std::int64_t columns_before(std::int64_t s, Index length) const { return shifted ? 0 : before(s, length); }
};

/// Reorders the rows of each task of the schedule, and says how. Dependencies are those of A and A'. No runs are those
/// of a matrix that lacks a diagonal entry.
/// Cost  two passes over the pattern, in parallel; the second finds it in the cache.
template <class Offset>
std::vector<Run> cut_into_runs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                               Schedule& schedule);

}  // namespace seidel::symgs_detail
