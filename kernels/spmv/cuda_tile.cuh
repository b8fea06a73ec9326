// The rows of one tile (tiles.hpp), added by a warp. Elements of x are fetched entry by entry, by neighbouring lanes for
// neighbouring entries, whatever row they are in. Rows of up to 64 entries are then added from shared memory by a thread each,
// longer ones by the lanes that fetched them.
#pragma once
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/spmv/cuda_cut_rows.cuh>
#include <seidel/kernels/spmv/row.hpp>
#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel::spmv_detail {

inline constexpr int short_batch = 4;                            // entries of short rows under way per lane
inline constexpr int tile_room = short_batch * cuda::warp_size;  // places of shared memory that a warp needs

template <class Offset>
__device__ std::int64_t cost_before_row(const Offset* row_ptr, Index row) {
  return cost_before(row_ptr[row], row);
}

template <class Real, class Offset, class Store>
struct TilesProduct {
  CsrView<Real, Offset, Device> A;
  Store store;
  TilesView tiles;
  Real* slots;  // 2 for each 2048 entries: the sums of pieces
};

/// The piece of the row before `first_row` that begins in the tile; 0 if none does.
template <class Offset>
__device__ Index covering_piece(const Offset* row_ptr, Index tile, Index first_row) {
  if (first_row == 0) return 0;
  const Index row = first_row - 1, length = Index(__ldg(row_ptr + first_row) - __ldg(row_ptr + row));
  if (length <= sum_block) return 0;
  const std::int64_t from_tile = std::int64_t(tile) * TilesView::cost - cost_before_row(row_ptr, row);  // > 0
  const std::int64_t piece = (from_tile + sum_block - 1) / sum_block;
  return piece < pieces_of(length) && piece * sum_block - from_tile < TilesView::cost ? Index(piece) : 0;
}

/// x_of(column) is the element of x for an entry with that column; `factors` has tile_room places.
template <class Real, class Offset, class Store, class XOf>
__device__ __forceinline__ void sum_tile(const TilesProduct<Real, Offset, Store>& of, const XOf& x_of, Index tile,
                                         Factors<Real>* factors) {
  using namespace cuda;
  const int lane = cuda::lane();
  const Offset* const row_ptr = of.A.row_ptr.data();
  const Index first_row = __ldg(of.tiles.first_rows + tile), end_row = __ldg(of.tiles.first_rows + tile + 1);
  Index cover = covering_piece(row_ptr, tile, first_row);
  Index base = first_row;
  do {
    const Index row = min(base + lane, end_row);
    const Offset first = __ldg(row_ptr + row);
    const Index length = row < end_row ? Index(__ldg(row_ptr + row + 1) - first) : 0;
    unsigned long_rows = __ballot_sync(whole_warp, length > short_sum);
    // The short rows' entries, numbered without the long ones between them: this row has begin ... end - 1.
    const int entries = length > short_sum ? 0 : int(length), end = warp_inclusive_sum(entries), begin = end - entries;
    const int count = __shfl_sync(whole_warp, end, warp_size - 1);
    const Offset from = __shfl_sync(whole_warp, first, 0);
    Real s = 0;
#pragma unroll 1
    for (int chunk = count > 0 ? -int(from % warp_size) : 0; chunk < count; chunk += tile_room) {
      Offset at[short_batch];
#pragma unroll
      for (int j = 0; j < short_batch; ++j) at[j] = from + max(min(chunk + j * warp_size + lane, count - 1), 0);
#pragma unroll 1
      for (unsigned left = long_rows; left; left &= left - 1) {
        const int who = __ffs(int(left)) - 1, place = __shfl_sync(whole_warp, begin, who);
        const Index skipped = __shfl_sync(whole_warp, length, who);
#pragma unroll
        for (int j = 0; j < short_batch; ++j)
          if (chunk + j * warp_size + lane >= place) at[j] += skipped;
      }
      Factors<Real> mine[short_batch];
      Index columns[short_batch];
#pragma unroll
      for (int j = 0; j < short_batch; ++j) {
        mine[j].value = streamed(of.A.values.data() + at[j]);
        columns[j] = streamed(of.A.col_idx.data() + at[j]);
      }
#pragma unroll
      for (int j = 0; j < short_batch; ++j) mine[j].x = x_of(columns[j]);
#pragma unroll
      for (int j = 0; j < short_batch; ++j) factors[j * warp_size + lane] = mine[j];
      __syncwarp();
      s = add_terms(factors, max(begin - chunk, 0), min(end - chunk, tile_room), s);
      __syncwarp();
    }
    if (row < end_row && length <= short_sum) of.store(row, s);
#pragma unroll 1
    while (cover > 0 || long_rows) {
      const Index piece = cover;
      Index its_row = first_row - 1, its_length;
      Offset its_first;
      if (cover > 0) {
        its_first = __ldg(row_ptr + its_row);
        its_length = Index(__ldg(row_ptr + first_row) - its_first);
        cover = 0;
      } else {
        const int who = __ffs(int(long_rows)) - 1;
        its_row = base + who;
        its_first = __shfl_sync(whole_warp, first, who);
        its_length = __shfl_sync(whole_warp, length, who);
        long_rows &= long_rows - 1;
      }
      const Index before = piece * sum_block;
      const Real sum = piece_sum(of.A, x_of, Offset(its_first + before), min(sum_block, its_length - before));
      if (its_length > sum_block)
        finish_piece<Real>({of.tiles.arrivals, of.slots}, of.store, its_row, its_first, its_length, piece, sum);
      else if (lane == 0)
        of.store(its_row, sum);
    }
    base += warp_size;
  } while (base < end_row);
}

}  // namespace seidel::spmv_detail
