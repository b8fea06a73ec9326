// Long rows of small matrices, of which one could keep a warp longer than all others: they are listed in shared memory, and a block
// adds them together.
#pragma once
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/spmv/cuda_cut_rows.cuh>
#include <seidel/kernels/spmv/long_rows.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

/// Rows of 257 ... 2048 entries, and pieces of longer ones, that a block adds.
template <class Offset, int max_cost>
struct ListedPieces {
  // They begin where the rows before cost less than `max_cost` more; only the last piece of a row may be shorter than 257 entries.
  static constexpr int max_count = max_cost / (moderate_row + 1 + cost_of_row) + 3;
  struct Piece {
    Offset first;
    int length;
    Index row;
  };
  int count;
  Piece pieces[max_count];

  __device__ void add(Index row, Offset from, Offset to) {
    int at = atomicAdd(&count, int((to - from + sum_block - 1) / sum_block));
    for (; from < to; from += sum_block) pieces[at++] = {from, int(min(Offset(sum_block), to - from)), row};
  }
};

/// Adds listed pieces by a block, as many at a time as the places of its warps hold: each warp fetches as many entries, then adds
/// one piece.
template <int batch, int warps, class Product, class Listed, class Real>
__device__ __forceinline__ void sum_listed(const Product& of, const Listed& listed, Factors<Real>* places) {
  using Offset = decltype(listed.pieces[0].first);
  constexpr int share = batch * warp_size, room = warps * share;
  static_assert(room >= sum_block && share <= moderate_row);
  const int warp = int(threadIdx.x) / warp_size;
#pragma unroll 1
  for (int begin = 0, end = 0; begin < listed.count; begin = end) {
    // Each has at least the places of a warp, so that at most one begins among them, and no more than there are warps fit.
    int used = 0, mine = 0;            // places, and where the piece begins that this warp adds
    int next = room;                   // where one begins among the places of this warp
    Offset shift = 0, next_shift = 0;  // from a place of this warp to its entry, before `next` and from there on
#pragma unroll 1
    for (; end < listed.count; ++end) {
      const auto piece = listed.pieces[end];
      const int after = used + max(piece.length, share);
      if (after > room) break;
      if (used <= warp * share)
        shift = piece.first - used;
      else if (used < (warp + 1) * share)
        next = used, next_shift = piece.first - used;
      if (end - begin == warp) mine = used;
      used = after;
    }
    Factors<Real> fetched[batch];
    Index columns[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int place = min(warp * share + j * warp_size + lane(), used - 1);
      const Offset at = min(place + (place < next ? shift : next_shift), Offset(of.A.nnz() - 1));
      fetched[j].value = streamed(of.A.values.data() + at);
      columns[j] = streamed(of.A.col_idx.data() + at);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) fetched[j].x = __ldg(of.x + columns[j]);
#pragma unroll
    for (int j = 0; j < batch; ++j) places[warp * share + j * warp_size + lane()] = fetched[j];
    __syncthreads();
    if (begin + warp < end) {
      const auto piece = listed.pieces[begin + warp];
      const Offset first = __ldg(of.A.row_ptr.data() + piece.row);
      const Index length = Index(__ldg(of.A.row_ptr.data() + piece.row + 1) - first);
      Real s = 0;
#pragma unroll 4
      for (int k = lane(); k < piece.length; k += warp_size)
        s = std::fma(places[mine + k].value, places[mine + k].x, s);
      s = warp_sum(s);
      if (length > sum_block)
        finish_piece(of.pieces, of.store, piece.row, first, length, Index((piece.first - first) / sum_block), s);
      else if (lane() == 0)
        of.store(piece.row, s);
    }
    __syncthreads();
  }
}

}  // namespace seidel::spmv_detail
