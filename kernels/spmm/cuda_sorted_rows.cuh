// Y = A X, row-major: rows of up to 64 entries where neighbouring rows differ in length. A warp sorts its rows by length,
// so that those it takes together are about as long as each other.
#pragma once
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/spmm/cuda_slices.cuh>

namespace seidel::spmm_detail {

inline constexpr int sorted_threads = 128;

/// A group's next entries of its row: lane g of G has entries g, g + G, ... of them.
template <class D, class Real>
struct Ahead {
  static constexpr int count = D::G < 8 ? 8 : D::G, each = count / D::G;
  Index col_idx[each];
  Real values[each];

  /// Entries from `begin` on of the row of n entries from `first` on; past its end the last one again.
  template <class Offset>
  __device__ void fetch(const CsrView<Real, Offset, Device>& A, Offset first, int n, int begin) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int k = begin + j * D::G + int(threadIdx.x) % D::G;
      if (n == 0) {
        col_idx[j] = 0;
      } else {
        col_idx[j] = streamed(A.col_idx.data() + first + (k < n ? k : n - 1));
        values[j] = streamed(A.values.data() + first + (k < n ? k : n - 1));
      }
    }
  }
};

/// Lane l gets the l-th smallest key of the warp.
__device__ inline unsigned sorted_in_warp(unsigned key) {
  const int lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int size = 2; size <= warp_size; size *= 2)
#pragma unroll
    for (int apart = size / 2; apart; apart /= 2) {
      const unsigned other = __shfl_xor_sync(whole_warp, key, apart);
      const bool lower = ((lane & size) == 0) == ((lane & apart) == 0);
      key = lower ? min(key, other) : max(key, other);
    }
  return key;
}

/// G threads per row; a warp takes as many rows as that makes, `turns` times, the shortest first, so that those of a turn are about as
/// long as each other.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(sorted_threads, D::V == 1 ? 8 : 6)
    sum_sorted_rows(const __grid_constant__ Operands<Real, Offset> of) {
  constexpr int G = D::G, rows = warp_size / G, warps = sorted_threads / warp_size, batch = 4,
                count = Ahead<D, Real>::count;
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size, mine = lane / G;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(of.block()) * warps + warp) * (rows * of.turns);
  if (first_row >= nrows) return end_after_launch_before();
  // Each lane knows a row.
  const bool exists = lane < rows * of.turns && first_row + lane < nrows;
  const Offset* const row_ptr = of.A.row_ptr.data() + (exists ? first_row + lane : 0);
  const Offset known_first = __ldg(row_ptr), length = __ldg(row_ptr + 1) - known_first;
  constexpr unsigned none = 2 * short_sum;
  unsigned key = (exists && length <= short_sum ? unsigned(length) : none) * warp_size + lane;
  int alike;
  __match_all_sync(whole_warp, key / warp_size, &alike);
  if (!alike) key = sorted_in_warp(key);
  const int turns = (__popc(__ballot_sync(whole_warp, key < none * warp_size)) + rows - 1) / rows;

  const Slice<Real, D> slice(of.X, of.slice());
  unsigned its_key;
  Offset first;
  Ahead<D, Real> ahead;
  const auto go_to = [&](int turn) {
    its_key = __shfl_sync(whole_warp, key, turn * rows + mine);
    first = __shfl_sync(whole_warp, known_first, its_key % warp_size);
    ahead.fetch(of.A, first, its_key < none * warp_size ? int(its_key / warp_size) : 0, 0);
  };
  if (turns > 0) go_to(0);
  for (int turn = 0; turn < turns; ++turn) {
    const unsigned row_key = its_key;
    const bool is_row = row_key < none * warp_size;
    const int n = is_row ? int(row_key / warp_size) : 0, most = __reduce_max_sync(whole_warp, n);
    typename Slice<Real, D>::Sum s{};
    int begin = 0;
    do {
      const Ahead<D, Real> now = ahead;
      if (begin + count < most)
        ahead.fetch(of.A, first, n, begin + count);
      else if (turn + 1 < turns)
        go_to(turn + 1);
#pragma unroll
      for (int i = 0; i < count; i += batch) {
        if (begin + i >= most) break;
        typename Slice<Real, D>::Sum factors[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j)
          factors[j] = slice.load(__shfl_sync(whole_warp, now.col_idx[(i + j) / G], (i + j) % G, G));
#pragma unroll
        for (int j = 0; j < batch; ++j) {
          const Real a = __shfl_sync(whole_warp, now.values[(i + j) / G], (i + j) % G, G);
          if (begin + i + j < n) s = slice.add(a, factors[j], s);
        }
      }
      begin += count;
    } while (begin < most);
    if (is_row) slice.store(of.Y, Index(first_row + row_key % warp_size), s);
  }
  end_after_launch_before();
}

}  // namespace seidel::spmm_detail
