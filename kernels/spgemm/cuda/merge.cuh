// Short rows of A, a thread for each: the rows of B that it meets are merged, so that columns come in ascending order and
// each sum in the order of A's row. No table is needed.
#pragma once
#include <cmath>
#include <cstdint>

#include <seidel/kernels/spgemm/cuda/rows.cuh>

namespace seidel::spgemm_detail {

inline constexpr int merge_width = 8;  // entries of A's row: their heads stay in registers
inline constexpr int max_merged = 64;  // products of a row: more would leave the other lanes of the warp waiting
inline constexpr int merge_threads = 128;
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

/// Where the threads of a block leave their rows: in shared memory if all of them fit, so that they go to global memory
/// in one piece; else each at its place. Rows that are not neighbours have no one piece.
template <class T>
struct Staging {
  T* shared;           // room for `max_entries`
  T* to;               // of C
  std::int64_t first;  // entry of C
  int entries;         // 0: not staged

  __device__ Staging(T* shared_, T* to_, const auto* row_ptr, const RowList& rows, int max_entries)
      : shared(shared_), to(to_), first(0), entries(0) {
    if (rows.rows) return;
    const std::int64_t row = std::int64_t(blockIdx.x) * merge_threads;
    first = row_ptr[row];
    const std::int64_t n = row_ptr[min(row + merge_threads, rows.size)] - first;
    entries = n <= max_entries ? int(n) : 0;
  }
  __device__ T* at(std::int64_t entry) const { return entries > 0 ? shared + (entry - first) : to + entry; }
  /// By all threads of the block.
  __device__ void flush() const {
    __syncthreads();
    for (int e = threadIdx.x; e < entries; e += merge_threads) to[first + e] = shared[e];
  }
};

/// `contributors`, if wanted, tells for each entry which entries of A's row have a term in it: what merge_update needs.
template <class Real, class Offset>
__global__ void __launch_bounds__(merge_threads)
    merge_values(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                 const Offset* row_ptr, Index* col_idx, Real* values, std::uint8_t* contributors, int max_entries) {
  extern __shared__ int4 shared[];
  Real* const shared_values = reinterpret_cast<Real*>(shared);
  const Staging<Real> all_values(shared_values, values, row_ptr, rows, max_entries);
  const Staging<Index> all_columns(reinterpret_cast<Index*>(shared_values + max_entries), col_idx, row_ptr, rows,
                                   max_entries);
  const std::int64_t at = std::int64_t(blockIdx.x) * merge_threads + threadIdx.x;
  if (at < rows.size) {
    const Index row = rows[at];
    const Offset begin = A.row_ptr[row], end = A.row_ptr[row + 1];
    Heads<Offset> heads(A, B, row);
    Real a[merge_width];
#pragma unroll
    for (int k = 0; k < merge_width; ++k) a[k] = begin + k < end ? A_values[begin + k] : 0;
    Offset to = row_ptr[row];
    Real* my_values = all_values.at(to);
    Index* my_columns = all_columns.at(to);
    for (Index c; (c = heads.least()) != no_column; ++to) {
      Real b[merge_width], sum = 0;
      unsigned who = 0;
#pragma unroll
      for (int k = 0; k < merge_width; ++k) b[k] = heads.column[k] == c ? B_values[heads.at[k]] : 0;  // loads first
#pragma unroll
      for (int k = 0; k < merge_width; ++k)
        if (heads.column[k] == c) {
          sum = std::fma(a[k], b[k], sum);
          who |= 1u << k;
          heads.advance(k, B);
        }
      *my_columns++ = c, *my_values++ = sum;
      if (contributors) contributors[to] = std::uint8_t(who);
    }
  }
  all_values.flush();
  all_columns.flush();
}

/// The values again: no column is read.
template <class Real, class Offset>
__global__ void __launch_bounds__(merge_threads)
    merge_update(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                 const Offset* row_ptr, const std::uint8_t* contributors, Real* values, int max_entries) {
  extern __shared__ int4 shared[];
  const Staging<Real> all(reinterpret_cast<Real*>(shared), values, row_ptr, rows, max_entries);
  const std::int64_t at = std::int64_t(blockIdx.x) * merge_threads + threadIdx.x;
  if (at < rows.size) {
    const Index row = rows[at];
    const Offset begin = A.row_ptr[row], end = A.row_ptr[row + 1];
    const Real* next[merge_width];
    Real a[merge_width];
#pragma unroll
    for (int k = 0; k < merge_width; ++k) {
      next[k] = B_values + (begin + k < end ? B.row_ptr[A.col_idx[begin + k]] : 0);
      a[k] = begin + k < end ? A_values[begin + k] : 0;
    }
    const Offset last = row_ptr[row + 1];
    Offset to = row_ptr[row];
    for (Real* mine = all.at(to); to < last; ++to) {
      const unsigned who = contributors[to];
      Real b[merge_width], sum = 0;
#pragma unroll
      for (int k = 0; k < merge_width; ++k) b[k] = who >> k & 1 ? *next[k]++ : 0;
#pragma unroll
      for (int k = 0; k < merge_width; ++k)
        if (who >> k & 1) sum = std::fma(a[k], b[k], sum);
      *mine++ = sum;
    }
  }
  all.flush();
}

}  // namespace seidel::spgemm_detail
