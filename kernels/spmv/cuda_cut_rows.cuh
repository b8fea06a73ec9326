// What tiles (cuda_tile.cuh) and shares (cuda_shares.cu) have in common: what rows cost, and rows that several warps add.
#pragma once
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel::spmv_detail {

inline constexpr int cost_of_row = TilesView::cost_of_row;
inline constexpr int finish_batch = 4;  // sums of pieces under way per lane
inline constexpr int long_batch = 8;    // entries of long rows under way per lane

/// What the rows before `row` cost.
__host__ __device__ inline std::int64_t cost_before(std::int64_t first_entry, Index row) {
  return first_entry + std::int64_t(cost_of_row) * row;
}

__host__ __device__ inline Index pieces_of(Index length) { return (length + sum_block - 1) / sum_block; }

/// An entry's value and the element of x for it.
template <class Real>
struct alignas(2 * sizeof(Real)) Factors {
  Real value, x;
};

/// s and the terms k ... end - 1 in shared memory, in that order.
template <class Real>
__device__ __forceinline__ Real add_terms(const Factors<Real>* factors, int k, int end, Real s) {
  constexpr int batch = 4;  // places read at once
#pragma unroll 1
  for (; k + batch <= end; k += batch) {
    Factors<Real> some[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) some[j] = factors[k + j];
#pragma unroll
    for (int j = 0; j < batch; ++j) s = std::fma(some[j].value, some[j].x, s);
  }
#pragma unroll 1
  for (; k < end; ++k) s = std::fma(factors[k].value, factors[k].x, s);
  return s;
}

/// How products fetch an element of x.
template <class Real>
struct ElementOf {
  const Real* x;
  __device__ Real operator()(std::int64_t column) const { return __ldg(x + column); }
};

/// The sum of up to 2048 terms from entry `first` on, by a warp; it is in lane 0. Lanes read from a multiple of 32 entries on.
template <class Real, class Offset, class XOf>
__device__ __forceinline__ Real piece_sum(const CsrView<Real, Offset, Device>& A, const XOf& x_of, Offset first,
                                          int count) {
  using namespace cuda;
  const int lane = cuda::lane(), shift = int(first % warp_size);
  Real s = 0;
#pragma unroll 1
  for (int place = lane - shift; place - lane < count; place += long_batch * warp_size) {
    Offset at[long_batch];  // of the entry, then its column
    Real values[long_batch];
#pragma unroll
    for (int j = 0; j < long_batch; ++j) {
      at[j] = first + max(min(place + j * warp_size, count - 1), 0);
      values[j] = streamed(A.values.data() + at[j]);
      at[j] = streamed(A.col_idx.data() + at[j]);
    }
    __syncwarp();  // all entries are asked for before any element of x
    Real factors[long_batch];
#pragma unroll
    for (int j = 0; j < long_batch; ++j) factors[j] = x_of(at[j]);
#pragma unroll
    for (int j = 0; j < long_batch; ++j)
      if (unsigned(place + j * warp_size) < unsigned(count)) s = std::fma(values[j], factors[j], s);
  }
  return warp_sum(__shfl_sync(whole_warp, s, (lane + shift) % warp_size));
}

/// Where the sums of pieces are kept until their row is finished.
template <class Real>
struct PieceSums {
  Index* arrivals;  // for each cut row, at its first entry / 2048, how many pieces are done; 0 between products
  Real* slots;      // 2 for each 2048 entries
};

/// Keeps the sum of a piece of a cut row, in lane 0. The warp that is the last to come adds them all.
template <class Real, class Offset, class Store>
__device__ __forceinline__ void finish_piece(const PieceSums<Real>& kept, const Store& store, Index row, Offset first,
                                             Index length, Index piece, Real s) {
  using namespace cuda;
  const int lane = cuda::lane();
  const Index pieces = pieces_of(length);
  Index* const arrivals = kept.arrivals + first / sum_block;
  // The last piece of a row may begin among the same 2048 entries as the first of another.
  const auto slot = [slots = kept.slots + 2 * (first / sum_block), pieces](Index p) {
    return slots + 2 * std::int64_t(p) + (p == pieces - 1);
  };
  bool is_last = false;
  if (lane == 0) {
    __stcg(slot(piece), s);
    __threadfence();
    is_last = atomicAdd(arrivals, 1) == pieces - 1;
  }
  if (!__shfl_sync(whole_warp, is_last, 0)) return;
  __threadfence();
  Index apart = 1;
#pragma unroll 1
  for (Index count = pieces; count > 1; count = (count + warp_size - 1) / warp_size, apart *= warp_size)
#pragma unroll 1
    for (Index begin = 0; begin < count; begin += finish_batch * warp_size) {
      Real sums[finish_batch];
#pragma unroll
      for (int j = 0; j < finish_batch; ++j) {
        const Index at = begin + j * warp_size + lane;
        sums[j] = at < count ? __ldcg(slot(at * apart)) : Real(0);
      }
#pragma unroll
      for (int j = 0; j < finish_batch; ++j) sums[j] = warp_tree(sums[j], count - begin - j * warp_size);
      __syncwarp();
#pragma unroll
      for (int j = 0; j < finish_batch; ++j)
        if (lane == 0 && begin + j * warp_size < count) __stcg(slot((begin + j * warp_size) * apart), sums[j]);
      __syncwarp();
    }
  if (lane == 0) {
    store(row, __ldcg(slot(0)));
    *arrivals = 0;
  }
}

}  // namespace seidel::spmv_detail
