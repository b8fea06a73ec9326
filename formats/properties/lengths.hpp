// What row pointers alone say of a matrix, looked at in groups of 32 rows: the slices of SELL-32.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include <seidel/formats/statistics.hpp>

namespace seidel::properties_detail {

__extension__ using Wide = unsigned __int128;

inline constexpr int rows_per_slice = 32;

/// Sums of integers, largest and smallest: the same in whatever order.
struct Lengths {
  std::int64_t max = -1, min = std::numeric_limits<std::int64_t>::max(), longest_row = -1, empty = 0;
  std::int64_t nnz = 0;
  std::int64_t sell_places = 0;  // at most 2^57 in all: slices * 32 * 2^31
  Wide squares = 0;

  SEIDEL_HD void row(std::int64_t row, std::int64_t length) {
    if (length > max) max = length, longest_row = row;
    min = std::min(min, length);
    empty += length == 0;
    nnz += length;
    squares += Wide(length) * Wide(length);
  }
  SEIDEL_HD void join(const Lengths& other) {
    if (other.max > max || (other.max == max && other.longest_row < longest_row))
      max = other.max, longest_row = other.longest_row;
    min = std::min(min, other.min);
    empty += other.empty;
    nnz += other.nnz;
    sell_places += other.sell_places;
    squares += other.squares;
  }
};

RowStatistics row_statistics_of(const Lengths& seen, std::int64_t nrows, Index ncols);
FormatBytes format_bytes_of(const Lengths& seen, std::int64_t nrows, int bytes_per_value);

/// In the memory of a back end (statistics.cpp, cuda_statistics.cu).
template <class Offset>
Lengths look_at_lengths(const OpenMP& on, HostSpan<const Offset> row_ptr);
template <class Offset>
Lengths look_at_lengths(const Cuda& on, DeviceSpan<const Offset> row_ptr);

}  // namespace seidel::properties_detail

namespace seidel {

template <Backend On, class Offset>
RowStatistics row_statistics(const On& on, Span<const Offset, typename On::Space> row_ptr, Index ncols) {
  using namespace properties_detail;
  const std::int64_t nrows = std::max<std::int64_t>(0, row_ptr.size() - 1);
  return row_statistics_of(nrows > 0 ? look_at_lengths(on, row_ptr) : Lengths{}, nrows, ncols);
}

template <Backend On, class Offset>
FormatBytes format_bytes(const On& on, Span<const Offset, typename On::Space> row_ptr, int bytes_per_value) {
  using namespace properties_detail;
  const std::int64_t nrows = std::max<std::int64_t>(0, row_ptr.size() - 1);
  return format_bytes_of(nrows > 0 ? look_at_lengths(on, row_ptr) : Lengths{}, nrows, bytes_per_value);
}

}  // namespace seidel
