// The one order of kernels/sum.hpp on the device: by a thread, by a warp, by a block. Same terms, same order, same
// bits.
#pragma once
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/kernels/sum.hpp>

namespace seidel::cuda {

static_assert(sum_lanes == warp_size, "a warp's lanes are the lanes of the one order");

/// The 32 lanes of a block of terms added as the tree l + (l + 16), l + (l + 8), ...; the sum is in lane 0.
template <class Sum>
__device__ Sum warp_sum(Sum s) {
#pragma unroll
  for (int width = warp_size / 2; width; width /= 2) s = s + shuffle_down(s, width);
  return s;
}

/// This lane's share of terms first ... last-1: first + lane, first + lane + 32, ... from left to right.
/// Eight at a time, so that their loads are in flight together.
template <class Sum, class Term>
__device__ Sum lane_sum(std::int64_t first, std::int64_t last, const Term& term) {
  constexpr int batch = 8;
  Sum s{};
  std::int64_t k = first + lane();
  for (; k + (batch - 1) * warp_size < last; k += batch * warp_size) {
#pragma unroll
    for (int j = 0; j < batch; ++j) s = term(k + j * warp_size, s);
  }
  for (; k < last; k += warp_size) s = term(k, s);
  return s;
}

/// Block `block` of the n terms, by a warp; the sum is in lane 0.
template <class Sum, class Term>
__device__ Sum warp_sum_of_block(std::int64_t block, std::int64_t n, const Term& term) {
  const std::int64_t first = block * sum_block;
  return warp_sum(lane_sum<Sum>(first, n - first < sum_block ? n : first + sum_block, term));
}

/// More than 64 terms by a warp, block after block; the sum is in lane 0.
template <class Sum, class Term>
__device__ Sum warp_sum_of_long(std::int64_t n, const Term& term) {
  if (n <= sum_block) return warp_sum_of_block<Sum>(0, n, term);
  PairwiseTree<Sum> tree;
  for (std::int64_t block = 0; block * sum_block < n; ++block) tree.push(warp_sum_of_block<Sum>(block, n, term));
  return tree.sum();
}

/// The fixed tree over `count` (at most 32) block sums, number l in lane l: neighbours in pairs, an odd last one
/// passes. The sum is in lane 0. As a subtree of a larger tree, `count` is 32 for all but the last.
template <class Sum>
__device__ Sum warp_tree(Sum s, int count) {
  const int lane = cuda::lane();
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const Sum right = shuffle_down(s, distance);
    if (lane % (2 * distance) == 0 && lane + distance < count) s = s + right;
  }
  return s;
}

/// The same over `count` (at least 1, at most blockDim.x) sums, number t in thread t; the sum is in thread 0. Ends with
/// a barrier, so that `shared` may be used again.
template <class Sum>
__device__ Sum block_tree(Sum s, int count, Sum (&shared)[warp_size]) {
  const int warp = threadIdx.x / warp_size, lane = cuda::lane();
  s = warp_tree(s, count - warp * warp_size);
  if (lane == 0) shared[warp] = s;
  __syncthreads();
  if (warp == 0) {
    const int warps = (count + warp_size - 1) / warp_size;
    s = warp_tree(lane < warps ? shared[lane] : Sum{}, warps);
  }
  __syncthreads();
  return s;
}

/// More than 64 terms by a block of `threads`; the sum is in thread 0. `sums` and `shared` are shared memory.
template <int threads, class Sum, class Term>
__device__ Sum block_sum_of_long(std::int64_t n, const Term& term, Sum (&sums)[threads], Sum (&shared)[warp_size]) {
  static_assert((threads & (threads - 1)) == 0, "the tree is pushed whole subtrees of one power of two");
  const std::int64_t nblocks = (n + sum_block - 1) / sum_block;
  PairwiseTree<Sum> tree;
  for (std::int64_t base = 0; base < nblocks; base += threads) {
    const int count = int(nblocks - base < threads ? nblocks - base : threads);
    for (int b = threadIdx.x / warp_size; b < count; b += threads / warp_size) {
      const Sum s = warp_sum_of_block<Sum>(base + b, n, term);
      if (lane() == 0) sums[b] = s;
    }
    __syncthreads();
    const Sum s = block_tree(int(threadIdx.x) < count ? sums[threadIdx.x] : Sum{}, count, shared);
    tree.push(s);  // thread 0's is the one that counts
  }
  return tree.sum();
}

}  // namespace seidel::cuda
