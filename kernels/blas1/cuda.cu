// Vector operations on the GPU: a thread an element; sums by a warp a block of 2048 terms, in the one order.
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/blas1/instances.hpp>
#include <seidel/kernels/cuda_sum.cuh>

namespace seidel::blas1 {

namespace {

using namespace seidel::cuda;

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr int threads_of_last = 1024;
static_assert(warps * sum_block == terms_per_partial, "reserve_sum and the kernels must agree");

template <class Op>
__global__ void __launch_bounds__(threads) each_element(std::int64_t n, const Op op) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i < n) op(i);
}

/// partial[b]: the sum of 8 blocks of terms, the subtree number b of the fixed tree.
template <class Real, class Term>
__global__ void __launch_bounds__(threads) sum_subtrees(std::int64_t n, const Term term, Real* partial) {
  __shared__ Real shared[warp_size];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::int64_t nblocks = (n + sum_block - 1) / sum_block, base = std::int64_t(blockIdx.x) * warps;
  const int count = int(nblocks - base < warps ? nblocks - base : warps);
  if (warp < count) {
    const Real s = warp_sum_of_block<Real>(base + warp, n, term);
    if (lane == 0) shared[warp] = s;
  }
  __syncthreads();
  if (warp == 0) {
    const Real s = warp_tree(lane < count ? shared[lane] : Real(0), count);
    if (lane == 0) partial[blockIdx.x] = s;
  }
}

/// The rest of the tree, by one block: each thread a subtree of `per_thread` (a power of two) partial sums, then the
/// block.
template <class Real>
__global__ void __launch_bounds__(threads_of_last)
    sum_partials(std::int64_t count, std::int64_t per_thread, const Real* partial, Real* result) {
  __shared__ Real shared[warp_size];
  const std::int64_t first = threadIdx.x * per_thread, last = first + per_thread < count ? first + per_thread : count;
  PairwiseTree<Real> tree;
  for (std::int64_t i = first; i < last; ++i) tree.push(partial[i]);
  const Real s = block_tree(tree.sum(), int((count + per_thread - 1) / per_thread), shared);
  if (threadIdx.x == 0) *result = s;
}

/// At most 64 terms, from left to right: one thread, for the order leaves nothing to share out.
template <class Real, class Term>
__global__ void sum_short(std::int64_t n, const Term term, Real* result) {
  *result = sum_left_to_right<Real>(0, n, 1, term);
}

/// The larger of two; NaN if one is.
template <class Real>
__device__ Real larger(Real m, Real a) {
  return m != m || a <= m ? m : a;
}

/// The largest of all threads' m, in thread 0; NaN if one is.
template <class Real>
__device__ Real largest_of_block(Real m, Real (&shared)[warp_size]) {
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  for (int width = warp_size / 2; width; width /= 2) m = larger(m, shuffle_down(m, width));
  if (lane == 0) shared[warp] = m;
  __syncthreads();
  if (warp == 0) {
    m = lane < int(blockDim.x) / warp_size ? shared[lane] : Real(0);
    for (int width = warp_size / 2; width; width /= 2) m = larger(m, shuffle_down(m, width));
  }
  return m;
}

/// found[b] = max |x_i| over every gridDim.x-th share of x.
template <class Real>
__global__ void __launch_bounds__(threads_of_last) search(const Real* x, std::int64_t n, Real* found) {
  __shared__ Real shared[warp_size];
  Real m = 0;
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    m = larger(m, std::fabs(x[i]));
  m = largest_of_block(m, shared);
  if (threadIdx.x == 0) found[blockIdx.x] = m;
}

/// Brings a scalar from the device; the one place here that waits.
template <class Real>
Real brought_back(const Cuda& on, const Real* result) {
  Real* const staging = reinterpret_cast<Real*>(on.staging());
  cuda_check(cudaMemcpyAsync(staging, result, sizeof(Real), cudaMemcpyDeviceToHost, on.stream()),
             "bringing back a scalar");
  on.synchronize();
  return *staging;
}

template <class Real>
Real* scratch(const Cuda& on, std::int64_t n) {
  return reinterpret_cast<Real*>(on.workspace(sum_workspace_bytes(n)).data());
}

}  // namespace

template <class Op>
void for_each_element(const Cuda& on, std::int64_t n, const Op& op) {
  if (n == 0) return;
  each_element<<<blocks_for(n, threads), threads, 0, on.stream()>>>(n, op);
  check_launch("an element-wise operation");
}

template <class Real, class Term>
Real sum(const Cuda& on, std::int64_t n, const Term& term) {
  if (n == 0) return 0;
  Real* const result = scratch<Real>(on, n);
  Real* const partial = result + 1;
  if (n <= short_sum) {
    sum_short<<<1, 1, 0, on.stream()>>>(n, term, result);
    check_launch("a sum");
    return brought_back(on, result);
  }
  const std::int64_t count = (n + terms_per_partial - 1) / terms_per_partial;
  sum_subtrees<<<unsigned(count), threads, 0, on.stream()>>>(n, term, count == 1 ? result : partial);
  check_launch("a sum's blocks");
  if (count == 1) return brought_back(on, result);
  std::int64_t per_thread = 1;
  while (per_thread * threads_of_last < count) per_thread *= 2;
  sum_partials<<<1, threads_of_last, 0, on.stream()>>>(count, per_thread, partial, result);
  check_launch("a sum's tree");
  return brought_back(on, result);
}

template <class Real>
Real max_abs(const Cuda& on, const Real* x, std::int64_t n) {
  if (n == 0) return 0;
  Real* const result = scratch<Real>(on, n);
  Real* const found = result + 1;
  const auto blocks = std::min<std::int64_t>(blocks_for(n, threads_of_last), shares_of_max_abs);
  search<<<unsigned(blocks), threads_of_last, 0, on.stream()>>>(x, n, found);
  check_launch("a search for the largest");
  search<<<1, threads_of_last, 0, on.stream()>>>(found, blocks, result);
  check_launch("a search for the largest");
  return brought_back(on, result);
}

template auto instances(const Cuda&, double*);
template auto instances(const Cuda&, float*);

}  // namespace seidel::blas1
