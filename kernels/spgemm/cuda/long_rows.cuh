// Long rows, whose columns or sums no table holds: a window of columns at a time, dense in shared memory.
#pragma once
#include <cmath>

#include <seidel/kernels/spgemm/cuda/rows.cuh>

namespace seidel::spgemm_detail {

inline constexpr int long_threads = 1024;  // for the columns of a row
inline constexpr int words_per_thread = 11;
inline constexpr int long_words = long_threads * words_per_thread;  // 44 KB of bits

/// The sum over the threads of a block before this one, and over all.
struct BlockSum {
  int before, all;
};
__device__ inline BlockSum block_sum(int value, int (&of_warp)[long_threads / warp_size]) {
  const int warp = threadIdx.x / warp_size, up_to = cuda::warp_inclusive_sum(value);
  __syncthreads();
  if (cuda::lane() == warp_size - 1) of_warp[warp] = up_to;
  __syncthreads();
  BlockSum sum{up_to - value, 0};
  for (int w = 0; w < long_threads / warp_size; ++w) {
    if (w < warp) sum.before += of_warp[w];
    sum.all += of_warp[w];
  }
  return sum;
}

enum class LongRows { lengths, columns };

/// A block for each row: its number of entries, or their columns, by bits of a window. `sub` threads take a row of B.
/// `counted`, if given, says on the device how many of the rows there are.
template <LongRows wanted, class Offset>
__global__ void __launch_bounds__(long_threads)
    long_columns(Pattern<Offset> A, Pattern<Offset> B, RowList rows, const unsigned long long* counted, int sub,
                 Index* lengths, const Offset* row_ptr, Index* col_idx) {
  __shared__ unsigned bits[long_words];
  __shared__ int of_warp[long_threads / warp_size];
  constexpr int word_bits = 32;
  constexpr Index width = long_words * word_bits;
  const std::int64_t size = counted ? std::int64_t(*counted) : rows.size;
  for (std::int64_t at = blockIdx.x; at < size; at += gridDim.x) {
    const Index row = rows[at];
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    Offset found = 0;
    for (std::int64_t left = 0; left < B.ncols; left += width) {
      const Index right = Index(min(std::int64_t(B.ncols), left + width));
      for (int w = threadIdx.x; w < long_words; w += long_threads) bits[w] = 0;
      __syncthreads();
      for (Offset e = first + int(threadIdx.x) / sub; e < last; e += long_threads / sub) {
        const Index k = A.col_idx[e];
        const Offset end = B.row_ptr[k + 1];
        for (Offset f = first_at_least(B.col_idx, B.row_ptr[k], end, Index(left)) + threadIdx.x % sub; f < end;
             f += sub) {
          const Index column = B.col_idx[f];
          if (column >= right) break;
          const unsigned place = unsigned(column - Index(left));
          atomicOr(&bits[place / word_bits], 1u << place % word_bits);
        }
      }
      __syncthreads();
      int mine = 0;
      const int my_first = threadIdx.x * words_per_thread;
      for (int w = 0; w < words_per_thread; ++w) mine += __popc(bits[my_first + w]);
      const BlockSum sum = block_sum(mine, of_warp);
      if constexpr (wanted == LongRows::columns) {
        Offset to = row_ptr[row] + found + sum.before;
        for (int w = my_first; w < my_first + words_per_thread; ++w)
          for (unsigned word = bits[w]; word; word &= word - 1)
            col_idx[to++] = Index(left) + w * word_bits + __ffs(int(word)) - 1;
      }
      found += sum.all;
      __syncthreads();
    }
    if (wanted == LongRows::lengths && threadIdx.x == 0) lengths[row] = Index(found);
  }
}

inline constexpr int long_window = 2048;  // columns whose sums a warp holds

/// The sums of long rows whose columns are known: a warp for each window of each row.
template <class Real, class Offset>
__global__ void __launch_bounds__(warp_size)
    long_values(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                const Offset* row_ptr, const Index* col_idx, Real* values) {
  __shared__ Real sums[long_window];
  const std::int64_t windows = (std::int64_t(B.ncols) + long_window - 1) / long_window;
  const int lane = threadIdx.x;
  for (std::int64_t task = blockIdx.x; task < rows.size * windows; task += gridDim.x) {
    const Index row = rows[task / windows], left = Index(task % windows * long_window);
    const Index right = Index(min(std::int64_t(B.ncols), std::int64_t(left) + long_window));
    const Offset first = first_at_least(col_idx, row_ptr[row], row_ptr[row + 1], left),
                 last = right == B.ncols ? row_ptr[row + 1] : first_at_least(col_idx, first, row_ptr[row + 1], right);
    if (first == last) continue;
    for (Offset e = first + lane; e < last; e += warp_size) sums[col_idx[e] - left] = 0;
    __syncwarp();
    const Offset end = A.row_ptr[row + 1];
    for (Offset base = A.row_ptr[row]; base < end; base += warp_size) {
      Offset from = 0;
      int n = 0;
      Real a = 0;
      if (base + lane < end) {
        const Index k = A.col_idx[base + lane];
        const Offset stop = B.row_ptr[k + 1];
        from = first_at_least(B.col_idx, B.row_ptr[k], stop, left);
        n = int((right == B.ncols ? stop : first_at_least(B.col_idx, from, stop, right)) - from);
        a = A_values[base + lane];
      }
      for (unsigned some = __ballot_sync(whole_warp, n > 0); some; some &= some - 1) {
        const int k = __ffs(int(some)) - 1;
        const Offset begin = __shfl_sync(whole_warp, from, k);
        const int entries = __shfl_sync(whole_warp, n, k);
        const Real a_k = __shfl_sync(whole_warp, a, k);
        for (int j = lane; j < entries; j += warp_size) {
          Real& sum = sums[B.col_idx[begin + j] - left];
          sum = std::fma(a_k, B_values[begin + j], sum);
        }
        __syncwarp();
      }
    }
    for (Offset e = first + lane; e < last; e += warp_size) values[e] = sums[col_idx[e] - left];
    __syncwarp();
  }
}

}  // namespace seidel::spgemm_detail
