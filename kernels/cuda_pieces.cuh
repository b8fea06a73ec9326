// Pieces of long rows (kernels/spmv/long_rows.hpp) summed by warps, and cut rows finished afterwards.
//
// A warp has T x G threads: thread t of T takes the lanes t, t + T, t + 2 T, ... of the one order of sums (kernels/sum.hpp),
// thread g of G some columns of its own. T is a power of two, so a thread's lanes are a subtree of the tree over lanes.
#pragma once
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/kernels/cuda_rows.cuh>
#include <seidel/kernels/spmv/long_rows.hpp>

namespace seidel::cuda {

inline constexpr int piece_threads = 128;

/// The lanes lane, lane + T, ... of a block of terms, on one thread of T.
template <class Sum, int T>
class LaneSums {
 public:
  /// Adds their terms among the next n, which are a multiple of 32 but for the last ones. `batch` are under way at once.
  template <int batch, class Terms>
  __device__ void add(const Terms& terms, int lane, int n) {
    constexpr int turn = lanes < batch ? batch : lanes;
#pragma unroll 1  // unrolled again it would take the registers of other warps
    for (int k = lane; k - lane < n; k += turn * T)
#pragma unroll
      for (int begin = 0; begin < turn; begin += batch) {
        decltype(terms.entry(0)) entries[batch];
        decltype(terms.factor(entries[0])) factors[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + (begin + j) * T < n) entries[j] = terms.entry(k + (begin + j) * T);
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + (begin + j) * T < n) factors[j] = terms.factor(entries[j]);
#pragma unroll
        for (int j = 0; j < batch; ++j) {
          Sum& s = sums_[(begin + j) % lanes];
          if (k + (begin + j) * T < n) s = terms.add(entries[j], factors[j], s);
        }
      }
  }
  /// The lanes added as their part of the tree.
  __device__ Sum total() {
#pragma unroll
    for (int width = lanes / 2; width; width /= 2)
#pragma unroll
      for (int l = 0; l < width; ++l) sums_[l] = sums_[l] + sums_[l + width];
    return sums_[0];
  }

 private:
  static constexpr int lanes = sum_lanes / T;
  Sum sums_[lanes] = {};
};

/// The sums of T threads, which are G lanes apart, added as the rest of the tree. The sum is in the first of them. All
/// lanes of the warp take part.
template <int T, int G, class Sum>
__device__ Sum across_threads(Sum s) {
#pragma unroll
  for (int width = T / 2; width; width /= 2) s = s + shuffle_down(s, width * G);
  return s;
}

/// Where the sums of pieces of cut rows are kept: `columns` places per slot.
template <class Real>
struct SlotSums {
  Real* sums = nullptr;
  std::int64_t columns = 1;
  __device__ Real& operator()(std::int64_t slot, std::int64_t column) const { return sums[slot * columns + column]; }
};

/// store(row, column, sum) for each cut row and column. A warp takes one at a time; sums are added where they stand.
template <class Real, class Store>
__global__ void __launch_bounds__(piece_threads)
    finish_cut_rows(const __grid_constant__ spmv_detail::LongRowsView rows, const __grid_constant__ SlotSums<Real> sums,
                    const __grid_constant__ Store store) {
  await_launch_before();
  constexpr int batch = 8;  // loads of a lane under way: a row of 2,000,000 entries has 977 slots
  const int lane = threadIdx.x % warp_size;
  const std::int64_t jobs = rows.counts->cut_rows * sums.columns,
                     warps = gridDim.x * std::int64_t(piece_threads / warp_size);
  for (std::int64_t job = (blockIdx.x * std::int64_t(piece_threads) + threadIdx.x) / warp_size; job < jobs;
       job += warps) {
    const spmv_detail::CutRow row = rows.cut_rows[job / sums.columns];
    const std::int64_t column = job % sums.columns;
    for (Index count = row.pieces; count > 1; count = (count + warp_size - 1) / warp_size)
      for (Index base = 0; base < count; base += batch * warp_size) {
        Real s[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j) {
          const Index at = base + j * warp_size + lane;
          s[j] = at < count ? sums(row.first_slot + at, column) : Real(0);
        }
#pragma unroll
        for (int j = 0; j < batch; ++j) {
          const Index rest = count - base - j * warp_size;
          s[j] = warp_tree(s[j], rest < warp_size ? rest : warp_size);
        }
        __syncwarp();
        if (lane == 0)
#pragma unroll
          for (int j = 0; j < batch; ++j)
            if (base + j * warp_size < count) sums(row.first_slot + base / warp_size + j, column) = s[j];
        __syncwarp();
      }
    if (lane == 0) store(row.row, column, sums(row.first_slot, column));
  }
}

/// Blocks of 4 warps, at most so many per multiprocessor, that take the jobs of warps in turns. Where long rows have not been
/// counted, most often there are none: blocks for all that there is room for would take longer than a small product.
inline std::int64_t blocks_in_turns(const Cuda& on, std::int64_t jobs, int per_multiprocessor) {
  constexpr int warps = piece_threads / warp_size;
  return std::min((jobs + warps - 1) / warps, per_multiprocessor * std::int64_t(on.multiprocessors()));
}

template <class Real, class Store>
void launch_finish(const Cuda& on, const spmv_detail::LongRowsView& rows, bool is_counted, const SlotSums<Real>& sums,
                   const Store& store) {
  if (rows.room.cut_rows == 0) return;
  const auto kernel = finish_cut_rows<Real, Store>;
  static const bool can_begin_early = can_wait(kernel);
  launch_after(on, can_begin_early, kernel,
               {.blocks = blocks_in_turns(on, rows.room.cut_rows * sums.columns, is_counted ? 100 : 1),
                .threads = piece_threads},
               "finishing long rows", rows, sums, store);
}

}  // namespace seidel::cuda
