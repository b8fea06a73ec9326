// Vector operations on the GPU: one thread per element; sums by one warp per block of 2048 terms, in the one order.
#include <algorithm>
#include <utility>

#include <seidel/formats/runtime/cuda_state.hpp>
#include <seidel/kernels/blas1/cuda_sums.cuh>
#include <seidel/kernels/blas1/instances.hpp>

namespace seidel::blas1 {

namespace {

using namespace seidel::cuda;

constexpr int threads = 256;
constexpr int max_warps = threads / warp_size;
static_assert(max_warps * sum_block == terms_per_partial, "reserve_sums and the kernels must agree");

template <class Op>
__global__ void __launch_bounds__(threads) each_element(std::int64_t n, const Op op) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i < n) op(i);
}

/// Terms of one lane that are loaded before the first is added, so that their loads are in flight together. Half as many
/// take 173 us for 169 on 16.8 million elements of AxpyMultiplySums, a quarter 177 us (H200).
template <class Element>
inline constexpr int batch = sizeof(Element) <= 4 * sizeof(double) ? 16 : 8;

template <class Real, class Pass, int... j>
__device__ void add_terms(const Pass& pass, const typename Pass::Element& element, SumGroup<Real, Pass::nsums>& sums,
                          std::integer_sequence<int, j...>) {
  ((sums.of[j] = pass.template term<j>(element, sums.of[j])), ...);
}

/// Elements first, first + step, ... below last: updated, stored and summed from left to right.
template <class Real, class Pass>
__device__ SumGroup<Real, Pass::nsums> pass_over(std::int64_t first, std::int64_t last, std::int64_t step,
                                                 const Pass& pass) {
  constexpr int together = batch<typename Pass::Element>;
  constexpr std::make_integer_sequence<int, Pass::nsums> each;
  SumGroup<Real, Pass::nsums> sums{};
  std::int64_t k = first;
  for (; k + (together - 1) * step < last; k += together * step) {
    typename Pass::Element element[together];
#pragma unroll
    for (int i = 0; i < together; ++i) element[i] = pass.load(k + i * step);
#pragma unroll
    for (int i = 0; i < together; ++i) {
      pass.update(element[i]);
      pass.store(k + i * step, element[i]);
      add_terms<Real>(pass, element[i], sums, each);
    }
  }
  for (; k < last; k += step) {
    typename Pass::Element element = pass.load(k);
    pass.update(element);
    pass.store(k, element);
    add_terms<Real>(pass, element, sums, each);
  }
  return sums;
}

/// The sum of the blocks of 2048 terms that begin with block `base`, one for each warp: a subtree of the fixed tree, in
/// thread 0. sum_of(first, last) gives a lane's share of the terms first ... last-1.
template <class Sum, class SumOf>
__device__ Sum subtree(std::int64_t base, std::int64_t n, const SumOf& sum_of) {
  __shared__ Sum shared[warp_size];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
  const std::int64_t nblocks = (n + sum_block - 1) / sum_block;
  const int count = int(nblocks - base < warps ? nblocks - base : warps);
  if (warp < count) {
    const std::int64_t first = (base + warp) * sum_block;
    const Sum s = warp_sum(sum_of(first + lane, n - first < sum_block ? n : first + sum_block));
    if (lane == 0) shared[warp] = s;
  }
  __syncthreads();
  return warp == 0 ? warp_tree(lane < count ? shared[lane] : Sum{}, count) : Sum{};
}

/// Passes that are launched together, blockIdx.y telling which.
template <class Pass, int m>
struct Passes {
  Pass of[m];
};

/// partial[p * gridDim.x + b]: the sums of as many blocks of terms of pass p as there are warps, the subtrees number b of the
/// fixed trees.
template <class Real, class Pass, int m>
__global__ void __launch_bounds__(threads)
    pass_by_subtrees(std::int64_t n, const __grid_constant__ Passes<Pass, m> passes,
                     SumGroup<Real, Pass::nsums>* partial) {
  Pass pass = passes.of[m == 1 ? 0 : blockIdx.y];
  if (!begins(pass)) return;
  const auto s = subtree<SumGroup<Real, Pass::nsums>>(
      std::int64_t(blockIdx.x) * (blockDim.x / warp_size), n,
      [&](std::int64_t first, std::int64_t last) { return pass_over<Real>(first, last, warp_size, pass); });
  if (threadIdx.x == 0) partial[std::int64_t(blockIdx.y) * gridDim.x + blockIdx.x] = s;
}

/// At most 64 terms, from left to right: one thread for each pass, for the order leaves nothing to share out.
template <class Real, class Pass, int m>
__global__ void pass_over_few(std::int64_t n, const __grid_constant__ Passes<Pass, m> passes,
                              SumGroup<Real, Pass::nsums>* result) {
  Pass pass = passes.of[m == 1 ? 0 : blockIdx.y];
  if (begins(pass)) result[blockIdx.y] = pass_over<Real>(0, n, 1, pass);
}

constexpr int tile = 8;  // columns that a block of threads takes together: w is loaded once for all

/// partial[i * count + b]: subtree number b of v_i'w, or of w'w for i = k.
template <class Real>
__global__ void __launch_bounds__(threads)
    project_by_subtrees(const Columns<Real> v, const Real* w, std::int64_t count, Real* partial) {
  const std::int64_t ntiles = v.k / tile + 1, number = blockIdx.x / ntiles;
  const std::int64_t base = blockIdx.x % ntiles * tile;  // tiles of the same terms follow each other: w is in the cache
  const Real* column[tile];
#pragma unroll
  for (int j = 0; j < tile; ++j) column[j] = base + j < v.k ? v.first + (base + j) * v.stride : w;
  const auto sum_of = [&](std::int64_t first, std::int64_t last) {
    SumGroup<Real, tile> s{};
#pragma unroll 2
    for (std::int64_t i = first; i < last; i += warp_size) {
      const Real w_i = w[i];
#pragma unroll
      for (int j = 0; j < tile; ++j) s.of[j] = std::fma(column[j][i], w_i, s.of[j]);
    }
    return s;
  };
  const auto s = subtree<SumGroup<Real, tile>>(number * max_warps, v.n, sum_of);
  if (threadIdx.x == 0)
    for (int j = 0; j < tile && base + j <= v.k; ++j) partial[(base + j) * count + number] = s.of[j];
}

/// At most 64 terms: a thread for each sum.
template <class Real>
__global__ void project_few(const Columns<Real> v, const Real* w, Real* result) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i > v.k) return;
  const Real* const x = i < v.k ? v.first + i * v.stride : w;
  result[i] = sum_left_to_right<Real>(0, v.n, 1, [&](std::int64_t k, Real s) { return std::fma(x[k], w[k], s); });
}

constexpr int max_coefficients = 64;  // that go with a launch

template <class Real>
struct Coefficients {
  Real of[max_coefficients];
};

template <class Real>
__global__ void __launch_bounds__(threads)
    combine(const Columns<Real> v, const Coefficients<Real> c, Real scale, Real* w) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= v.n) return;
  Real s = w[i];
  int j = 0;
  for (; j + tile <= v.k; j += tile) {
    Real x[tile];
#pragma unroll
    for (int k = 0; k < tile; ++k) x[k] = v.first[(j + k) * v.stride + i];
#pragma unroll
    for (int k = 0; k < tile; ++k) s = std::fma(c.of[j + k], x[k], s);
  }
  for (; j < v.k; ++j) s = std::fma(c.of[j], v.first[j * v.stride + i], s);
  w[i] = scale * s;
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

/// found[j * gridDim.x + b] = max |x_i| over every gridDim.x-th share of column j of v.
template <class Real>
__global__ void __launch_bounds__(threads_of_last) search(const Columns<Real> v, Real* found) {
  __shared__ Real shared[warp_size];
  const Real* const x = v.first + blockIdx.y * v.stride;
  const std::int64_t n = v.n;
  Real m = 0;
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    m = larger(m, std::fabs(x[i]));
  m = largest_of_block(m, shared);
  if (threadIdx.x == 0) found[std::int64_t(blockIdx.y) * gridDim.x + blockIdx.x] = m;
}

/// Page-locked host memory that kernels write their result to; one wait brings it.
template <class T>
T* staging(const Cuda& on) {
  return reinterpret_cast<T*>(on.staging());
}
constexpr std::int64_t max_staged = 64;

/// Warps of a block, whose sums are one partial sum: few where all passes have few terms, so that no multiprocessor is idle.
int warps_of_pass(const Cuda& on, std::int64_t terms) {
  int warps = max_warps;
  while (warps > 1 && terms <= std::int64_t(warps) * sum_block * on.multiprocessors()) warps /= 2;
  return warps;
}

/// result[p] = the sums of pass p, for the first `count` of m passes, n > 0.
template <class Real, class Pass, int m>
void sum_passes(const Cuda& on, std::int64_t n, const Passes<Pass, m>& passes, int count,
                SumGroup<Real, Pass::nsums>* result) {
  if (n <= short_sum) {
    pass_over_few<Real><<<dim3(1, unsigned(count)), 1, 0, on.stream()>>>(n, passes, result);
    check_launch("a short pass");
    return;
  }
  Scratch scratch(on);
  const int warps = warps_of_pass(on, n * count);
  const std::int64_t blocks = (n + warps * sum_block - 1) / (warps * sum_block);
  auto* const partial = blocks == 1 ? result : scratch.take<SumGroup<Real, Pass::nsums>>(count * blocks).data();
  pass_by_subtrees<Real>
      <<<dim3(unsigned(blocks), unsigned(count)), warps * warp_size, 0, on.stream()>>>(n, passes, partial);
  check_launch("a pass with sums");
  if (blocks > 1) add_partials(on, count, blocks, partial, result);
}

template <class Real, class Pass, int m>
void run_together(const Cuda& on, std::int64_t n, const Passes<Pass, m>& passes, int count, Real* sums) {
  using Group = SumGroup<Real, Pass::nsums>;
  static_assert(m * Pass::nsums <= max_staged);
  std::fill_n(sums, count * Pass::nsums, Real(0));
  if (n == 0 || count == 0) return;
  Group* const result = staging<Group>(on);
  sum_passes(on, n, passes, count, result);
  on.synchronize();
  for (int p = 0; p < count; ++p) std::copy_n(result[p].of, Pass::nsums, sums + p * Pass::nsums);
}

/// result[j] = the largest |v_ij|, n > 0.
template <class Real>
void search_all(const Cuda& on, const Columns<Real>& v, Real* result) {
  Scratch scratch(on);
  const auto blocks = std::min<std::int64_t>(blocks_for(v.n, threads_of_last), shares_of_max_abs);
  Real* const found = scratch.take<Real>(v.k == 1 ? shares_of_max_abs : blocks * v.k).data();
  const unsigned columns = unsigned(v.k);
  search<<<dim3(unsigned(blocks), columns), threads_of_last, 0, on.stream()>>>(v, found);
  check_launch("a search for the largest");
  search<<<dim3(1, columns), threads_of_last, 0, on.stream()>>>(Columns<Real>{found, blocks, blocks, v.k}, result);
  check_launch("a search for the largest");
}

template <class Real>
__global__ void scale_from(const Real* largest, std::int64_t k, double* scale) {
  const std::int64_t j = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j < k) find_scale(largest[j], scale + 2 * j);
}

}  // namespace

void for_each_element(const Cuda& on, std::int64_t n, const auto& op) {
  if (n == 0) return;
  each_element<<<blocks_for(n, threads), threads, 0, on.stream()>>>(n, op);
  check_launch("an element-wise operation");
}

template <class Real, class Pass>
void run_pass(const Cuda& on, std::int64_t n, const Pass& pass, Real* sums) {
  run_together(on, n, Passes<Pass, 1>{{pass}}, 1, sums);
}

template <class Real, class Pass>
void unit_sums(const Cuda& on, std::int64_t n, const Pass& pass, std::int64_t unit, Real* sums) {
  using Group = SumGroup<Real, Pass::nsums>;
  if (n == 0) return;
  const std::int64_t warps = std::min<std::int64_t>(max_warps, unit / sum_block), terms = warps * sum_block;
  const std::int64_t blocks = (n + terms - 1) / terms;
  Scratch scratch(on);
  const auto partial = scratch.take<Group>(blocks);
  pass_by_subtrees<Real>
      <<<unsigned(blocks), unsigned(warps * warp_size), 0, on.stream()>>>(n, Passes<Pass, 1>{{pass}}, partial.data());
  check_launch("a pass with sums of units");
  const Array<Group> found = copied_to<Host>(on, partial);
  for (std::int64_t first = 0; first < blocks; first += unit / terms, sums += Pass::nsums) {
    PairwiseTree<Group> tree;
    for (std::int64_t b = first; b < std::min(blocks, first + unit / terms); ++b) tree.push(found[b]);
    std::copy_n(tree.sum().of, Pass::nsums, sums);
  }
}

template <class Real, class Pass>
void run_passes(const Cuda& on, std::int64_t n, const Pass* passes, int count, Real* sums) {
  for (int first = 0; first < count; first += passes_at_once) {
    const int some = std::min(passes_at_once, count - first);
    Passes<Pass, passes_at_once> together;
    for (int p = 0; p < passes_at_once; ++p) together.of[p] = passes[first + (p < some ? p : 0)];
    run_together(on, n, together, some, sums + first * Pass::nsums);
  }
}

template <class Real, class Pass>
void leave_sums(const Cuda& on, std::int64_t n, const Pass& pass, Real* sums) {
  if (n > 0)
    sum_passes(on, n, Passes<Pass, 1>{{pass}}, 1, reinterpret_cast<SumGroup<Real, Pass::nsums>*>(sums));
  else
    cuda_check(cudaMemsetAsync(sums, 0, Pass::nsums * sizeof(Real), on.stream()), "sums of nothing");
}

void mark(const Cuda& on) {
  cuda_check(cudaEventRecord(on.state()->mark, on.stream()), "marking how far work has come");
}
void wait_for_mark(const Cuda& on) {
  ++on.state()->waits;
  cuda_check(cudaEventSynchronize(on.state()->mark), "work on the device");
}

template <class Real>
void project(const Cuda& on, const Columns<Real>& v, const Real* w, Real* sums) {
  const std::int64_t nsums = v.k + 1, count = (v.n + terms_per_partial - 1) / terms_per_partial;
  if (v.n == 0) return void(std::fill_n(sums, nsums, Real(0)));
  Scratch scratch(on);
  Real* const partial = scratch.take<Real>(nsums * count).data();
  Real* const result = nsums <= max_staged ? staging<Real>(on) : scratch.take<Real>(nsums).data();
  if (v.n <= short_sum) {
    project_few<<<blocks_for(nsums, threads), threads, 0, on.stream()>>>(v, w, result);
    check_launch("a short projection");
  } else {
    Real* const to = count == 1 ? result : partial;
    project_by_subtrees<<<unsigned(count * (v.k / tile + 1)), threads, 0, on.stream()>>>(v, w, count, to);
    check_launch("a projection");
    if (count > 1) add_partials(on, nsums, count, partial, result);
  }
  if (nsums > max_staged)
    cuda_check(cudaMemcpyAsync(sums, result, nsums * sizeof(Real), cudaMemcpyDeviceToHost, on.stream()),
               "bringing back a projection");
  on.synchronize();
  if (nsums <= max_staged) std::copy_n(result, nsums, sums);
}

template <class Real>
void add_combination(const Cuda& on, const Columns<Real>& v, Real sign, const Real* c, Real scale, Real* w) {
  if (v.n == 0) return;
  for (std::int64_t base = 0; base == 0 || base < v.k; base += max_coefficients) {
    const std::int64_t count = std::min<std::int64_t>(max_coefficients, v.k - base);
    Coefficients<Real> some;
    for (std::int64_t j = 0; j < count; ++j) some.of[j] = sign * c[base + j];
    combine<<<blocks_for(v.n, threads), threads, 0, on.stream()>>>(
        Columns<Real>{v.first + base * v.stride, v.stride, v.n, count}, some,
        base + max_coefficients < v.k ? Real(1) : scale, w);
    check_launch("a combination of vectors");
  }
}

template <class Real>
Real max_abs(const Cuda& on, const Real* x, std::int64_t n) {
  if (n == 0) return 0;
  Real* const result = staging<Real>(on);
  search_all(on, Columns<Real>{x, n, n, 1}, result);
  on.synchronize();
  return *result;
}

template <class Real>
void leave_max_abs(const Cuda& on, const Real* x, std::int64_t n, Real* result) {
  if (n > 0)
    search_all(on, Columns<Real>{x, n, n, 1}, result);
  else
    cuda_check(cudaMemsetAsync(result, 0, sizeof(Real), on.stream()), "the largest of nothing");
}

template <class Real>
void find_scale(const Cuda& on, const Columns<Real>& v, double* scale) {
  if (v.n == 0 || v.k == 0) return;
  Scratch scratch(on);
  Real* const largest = scratch.take<Real>(v.k).data();
  search_all(on, v, largest);
  scale_from<<<blocks_for(v.k, warp_size), warp_size, 0, on.stream()>>>(largest, v.k, scale);
  check_launch("a scale");
}

template void instances(const Cuda&, double*);
template void instances(const Cuda&, float*);

}  // namespace seidel::blas1
