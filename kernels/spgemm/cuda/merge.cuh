// Short rows of A, a thread for each: the rows of B that it meets are merged, so that columns come in ascending order and
// each sum in the order of A's row. No table is needed.
#pragma once
#include <cmath>

#include <seidel/kernels/spgemm/cuda/rows.cuh>

namespace seidel::spgemm_detail {

inline constexpr int merge_width = 8;   // entries of A's row: their heads stay in registers
inline constexpr int max_merged = 256;  // products of a row: more would leave the other lanes of the warp waiting
inline constexpr int merge_threads = 256;
inline constexpr Index no_column = std::numeric_limits<Index>::max();

/// The next entries of the rows of B that a row of A meets.
template <class Offset>
struct Heads {
  Index column[merge_width];  // no_column: its row of B is used up
  Offset at[merge_width], end[merge_width];

  __device__ Heads(const Pattern<Offset>& A, const Pattern<Offset>& B, Index row) {
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
#pragma unroll
    for (int k = 0; k < merge_width; ++k) {
      column[k] = no_column, at[k] = end[k] = 0;
      if (first + k < last) {
        const Index of_B = A.col_idx[first + k];
        at[k] = B.row_ptr[of_B], end[k] = B.row_ptr[of_B + 1];
        if (at[k] < end[k]) column[k] = B.col_idx[at[k]];
      }
    }
  }
  __device__ Index least() const {
    Index c = no_column;
#pragma unroll
    for (int k = 0; k < merge_width; ++k) c = min(c, column[k]);
    return c;
  }
  __device__ void advance(int k, const Pattern<Offset>& B) {
    column[k] = ++at[k] < end[k] ? B.col_idx[at[k]] : no_column;
  }
};

template <class Offset>
__global__ void __launch_bounds__(merge_threads)
    merge_count(Pattern<Offset> A, Pattern<Offset> B, RowList rows, Index* lengths) {
  const std::int64_t at = std::int64_t(blockIdx.x) * merge_threads + threadIdx.x;
  if (at >= rows.size) return;
  const Index row = rows[at];
  Heads<Offset> heads(A, B, row);
  Index n = 0;
  for (Index c; (c = heads.least()) != no_column; ++n)
#pragma unroll
    for (int k = 0; k < merge_width; ++k)
      if (heads.column[k] == c) heads.advance(k, B);
  lengths[row] = n;
}

template <class Real, class Offset>
__global__ void __launch_bounds__(merge_threads)
    merge_values(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                 const Offset* row_ptr, Index* col_idx, Real* values) {
  const std::int64_t at = std::int64_t(blockIdx.x) * merge_threads + threadIdx.x;
  if (at >= rows.size) return;
  const Index row = rows[at];
  Heads<Offset> heads(A, B, row);
  Real a[merge_width];
#pragma unroll
  for (int k = 0; k < merge_width; ++k)
    a[k] = A.row_ptr[row] + k < A.row_ptr[row + 1] ? A_values[A.row_ptr[row] + k] : 0;
  Offset to = row_ptr[row];
  for (Index c; (c = heads.least()) != no_column; ++to) {
    Real b[merge_width], sum = 0;
#pragma unroll
    for (int k = 0; k < merge_width; ++k) b[k] = heads.column[k] == c ? B_values[heads.at[k]] : 0;  // loads first
#pragma unroll
    for (int k = 0; k < merge_width; ++k)
      if (heads.column[k] == c) {
        sum = std::fma(a[k], b[k], sum);
        heads.advance(k, B);
      }
    col_idx[to] = c, values[to] = sum;
  }
}

}  // namespace seidel::spgemm_detail
