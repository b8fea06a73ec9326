// Y = A X, row-major: rows of 65 ... 256 entries. Neighbouring rows with the same columns, as finite elements have them for
// the unknowns of a node, are joined by threes: then each row of X that they need is read once for all.
#pragma once
#include <seidel/kernels/spmm/cuda_slices.cuh>

namespace seidel::spmm_detail {

using spmv_detail::moderate_row;

inline constexpr int max_joined = 3;    // whose sums a thread can hold
inline constexpr int join_window = 24;  // a multiple of 2, 3, 4 and 6, so that rows to be joined rarely fall into two

/// A warp per 24 pieces, in turns.
inline __global__ void __launch_bounds__(piece_threads, 16)
    join_pieces(const Index* col_idx, const __grid_constant__ LongRowsView rows) {
  const int lane = threadIdx.x % warp_size;
  const Index long_pieces = rows.counts->long_pieces, count = rows.counts->moderate_pieces;
  const std::int64_t stride = gridDim.x * std::int64_t(piece_threads / warp_size) * join_window;
  Index joined = 0;
  for (std::int64_t first = (blockIdx.x * std::int64_t(piece_threads) + threadIdx.x) / warp_size * join_window;
       first < count; first += stride) {
    const bool exists = lane < join_window && first + lane < count;
    Piece* const at = const_cast<Piece*>(&rows.piece(long_pieces + Index(first) + (exists ? lane : 0), long_pieces));
    const Piece piece = *at;
    const int length = piece.length;
    const Index row_before = __shfl_up_sync(whole_warp, piece.to, 1),
                length_before = __shfl_up_sync(whole_warp, length, 1);
    const bool may_be = exists && lane > 0 && piece.to == row_before + 1 && length == length_before &&
                        col_idx[piece.first] == col_idx[piece.first - length];
    unsigned alike = __ballot_sync(whole_warp, may_be);  // the rows whose columns are those of the row before
    for (unsigned left = alike; left; left &= left - 1) {
      const int l = __ffs(int(left)) - 1, n = __shfl_sync(whole_warp, length, l);
      const Index* const columns = col_idx + __shfl_sync(whole_warp, piece.first, l);
      bool same = true;
      for (int k = lane; k < n; k += warp_size) same &= columns[k] == columns[k - n];
      if (!__all_sync(whole_warp, same)) alike &= ~(1u << l);
    }
    const int begin = 31 - __clz(int(~alike & ((2u << lane) - 1)));  // the first row with these columns
    const bool follows = (lane - begin) % max_joined > 0;
    joined += __popc(__ballot_sync(whole_warp, exists && follows));
    if (!exists) continue;
    if (follows) {
      at->rows = 0;
    } else {
      const int run = __ffs(int(~(alike >> lane >> 1)));  // so many have them from here on
      at->rows = std::int16_t(run < max_joined ? run : max_joined);
    }
  }
  if (lane == 0 && joined) atomicAdd(&rows.counts->joined_rows, joined);
}

/// Of one block of terms, the lanes lane, lane + width, lane + 2 width, ... in their tree, lanes 16 apart at once: all reads of
/// X for 81 terms of two lanes are under way together, which is what makes it fast.
template <int width, class Terms>
__device__ typename Terms::Sum tree_of_pairs(const Terms& terms, int lane, int n) {
  using Sum = typename Terms::Sum;
  constexpr int half = sum_lanes / 2;
  if constexpr (width < half) {
    const Sum s = tree_of_pairs<2 * width>(terms, lane, n);
    return s + tree_of_pairs<2 * width>(terms, lane + width, n);
  } else {
    Sum s[2] = {};
    constexpr int batch = 6;
    for (int k = lane; k < n; k += batch * half) {
      typename Terms::Factor factors[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j * half < n) factors[j] = terms.factor(k + j * half);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j * half < n) s[j % 2] = terms.add(k + j * half, factors[j], s[j % 2]);
    }
    return s[0] + s[1];
  }
}

/// A warp per three pieces of rows of 65 ... 256 entries, in turns.
template <class D, int max_together, class Real, class Offset>
__global__ void __launch_bounds__(piece_threads, max_together == 1 ? 8
                                                 : D::G < 16       ? 6
                                                                   : 4)
    sum_joined_rows(const __grid_constant__ Operands<Real, Offset> of) {
  extern __shared__ double shared[];
  constexpr int T = warp_size / D::G, warps = piece_threads / warp_size;
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size;
  Real* const values = reinterpret_cast<Real*>(shared) + warp * of.room;
  Index* const col_idx =
      reinterpret_cast<Index*>(reinterpret_cast<Real*>(shared) + warps * of.room) + warp * moderate_row;
  let_next_begin();
  const Slice<Real, D> slice(of.X, of.slice());
  const Index long_pieces = of.long_rows.counts->long_pieces, count = of.long_rows.counts->moderate_pieces;

  // `count` rows that are staged, at most `rows`.
  const auto sum = [&]<int rows>(std::integral_constant<int, rows>, Index row, int length, int count) {
    StagedTerms<Real, D, rows> terms{col_idx, {}, slice};
#pragma unroll
    for (int r = 0; r < rows; ++r) terms.values[r] = values + (r < count ? r : 0) * length;
    const auto s = across_threads<T, D::G>(tree_of_pairs<T>(terms, lane / D::G, length));
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (r < count && lane < D::G) slice.store(of.Y, row + r, s.of[r]);
  };
  const std::int64_t stride = of.blocks_per_slice() * std::int64_t(warps) * max_together;
  for (std::int64_t at = (of.block() * std::int64_t(warps) + warp) * max_together; at < count;
       at += (at + 1) % max_together ? 1 : stride - (max_together - 1)) {
    const Piece piece = of.long_rows.piece(Index(long_pieces + at), long_pieces);
    const int length = piece.length, together = max_together > 1 && piece.rows * length <= of.room ? piece.rows : 1;
    for (int done = 0; done < (max_together > 1 ? piece.rows : 1); done += together) {
      const std::int64_t first = piece.first + done * length;
      stage(col_idx, of.A.col_idx.data() + first, length);
      stage(values, of.A.values.data() + first, together * length);
      wait_for_staged();
      if (together == 1)
        sum(std::integral_constant<int, 1>{}, piece.to + done, length, 1);
      else if constexpr (max_together > 1)
        sum(std::integral_constant<int, max_together>{}, piece.to, length, together);
      __syncwarp();
    }
  }
  end_after_launch_before();
}

}  // namespace seidel::spmm_detail
