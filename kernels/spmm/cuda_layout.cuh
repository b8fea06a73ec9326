// Columns of a multivector brought from one layout into the other.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::spmm_detail {

inline constexpr int tile_width = 32, tile_threads = 256;

/// to = from, 32 rows per block, by way of a tile in shared memory: neighbouring threads read and write neighbouring elements.
template <class Real>
__global__ void __launch_bounds__(tile_threads)
    copy_tiles(const __grid_constant__ MultiVectorView<const Real, Device> from,
               const __grid_constant__ MultiVectorView<Real, Device> to) {
  __shared__ Real tile[tile_width][tile_width + 1];
  const int fast = threadIdx.x % tile_width, first = threadIdx.x / tile_width;
  const std::int64_t first_row = blockIdx.x * std::int64_t(tile_width);
  const bool by_rows = from.layout == Layout::row_major;
  for (int slow = first; slow < tile_width; slow += tile_threads / tile_width) {
    const std::int64_t row = first_row + (by_rows ? slow : fast), column = by_rows ? fast : slow;
    if (row < from.nrows && column < from.ncols) tile[slow][fast] = from(row, column);
  }
  __syncthreads();
  for (int slow = first; slow < tile_width; slow += tile_threads / tile_width) {
    const std::int64_t row = first_row + (by_rows ? fast : slow), column = by_rows ? slow : fast;
    if (row < to.nrows && column < to.ncols) to(row, column) = tile[fast][slow];
  }
}

/// to = from: at most 32 columns, one of them row-major, the other column-major.
template <class Real>
void copy_layout(const Cuda& on, const MultiVectorView<const Real, Device>& from,
                 const MultiVectorView<Real, Device>& to) {
  if (from.nrows == 0 || from.ncols == 0) return;
  copy_tiles<<<blocks_for(from.nrows, tile_width), tile_threads, 0, on.stream()>>>(from, to);
  check_launch("bringing columns into another layout");
}

}  // namespace seidel::spmm_detail
