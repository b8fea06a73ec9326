// The last launch of a sum on the GPU: the fixed tree over the sums of its blocks.
#pragma once
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_sum.cuh>

namespace seidel::blas1 {

inline constexpr int threads_of_last = 1024;

/// The rest of the tree, by one block for each sum: each thread a subtree of `per_thread` (a power of two) partial sums,
/// then the block.
template <class Sum>
__global__ void __launch_bounds__(threads_of_last)
    sum_partials(std::int64_t count, std::int64_t per_thread, const Sum* partial, Sum* result) {
  __shared__ Sum shared[cuda::warp_size];
  partial += blockIdx.x * count;
  const std::int64_t first = threadIdx.x * per_thread, last = first + per_thread < count ? first + per_thread : count;
  PairwiseTree<Sum> tree;
  for (std::int64_t i = first; i < last; ++i) tree.push(partial[i]);
  const Sum s = cuda::block_tree(tree.sum(), int((count + per_thread - 1) / per_thread), shared);
  if (threadIdx.x == 0) result[blockIdx.x] = s;
}

/// result[s] = the tree over partial[s * count ...], `count` sums of whole subtrees; for s = 0 ... sums - 1.
template <class Sum>
void add_partials(const Cuda& on, std::int64_t sums, std::int64_t count, const Sum* partial, Sum* result) {
  std::int64_t per_thread = 1;
  while (per_thread * threads_of_last < count) per_thread *= 2;
  sum_partials<<<unsigned(sums), threads_of_last, 0, on.stream()>>>(count, per_thread, partial, result);
  check_launch("the tree of a sum");
}

}  // namespace seidel::blas1
