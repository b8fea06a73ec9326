// Dense products on a GPU in the three steps of the study that this grew out of: a block takes a row of A, B is read by columns.
#include <seidel/drivers/bench/rivals/gemm.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::drivers {

namespace {

constexpr int threads = 256, columns_at_once = 28;

template <class Real>
using In = DenseView<const Real, Device>;
template <class Real>
using Out = DenseView<Real, Device>;

/// The sum over all threads of a block, in its first thread.
template <class Real>
__device__ Real block_sum(Real value, Real* partial) {
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (int(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  return partial[0];
}

/// A block per row; a sum of all its threads for each column.
template <class Real>
__global__ void __launch_bounds__(threads) row_per_block(In<Real> A, In<Real> B, Out<Real> C) {
  __shared__ Real partial[threads];
  const std::int64_t i = blockIdx.x;
  for (std::int64_t j = 0; j < C.ncols; ++j) {
    Real sum = 0;
    for (std::int64_t k = threadIdx.x; k < A.ncols; k += threads) sum = std::fma(A(i, k), B(k, j), sum);
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0) C(i, j) = sum;
    __syncthreads();
  }
}

/// Of each column of the group, the sums of all threads, added by one warp per column in turn.
template <class Real>
__device__ void store_group(const Real (*partial)[threads + 1], std::int64_t i, std::int64_t first,
                            const Out<Real>& C) {
  __syncthreads();
  for (int c = int(threadIdx.x) / 32; c < columns_at_once && first + c < C.ncols; c += threads / 32) {
    Real sum = 0;
    for (int t = int(threadIdx.x) % 32; t < threads; t += 32) sum += partial[c][t];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) C(i, first + c) = sum;
  }
  __syncthreads();
}

/// Groups of columns: their partial sums lie in shared memory side by side, and the threads meet once per group.
template <class Real>
__global__ void __launch_bounds__(threads) column_groups(In<Real> A, In<Real> B, Out<Real> C) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const partial = reinterpret_cast<Real(*)[threads + 1]>(memory);
  const std::int64_t i = blockIdx.x;
  for (std::int64_t first = 0; first < C.ncols; first += columns_at_once) {
    for (int c = 0; c < columns_at_once && first + c < C.ncols; ++c) {
      Real sum = 0;
      for (std::int64_t k = threadIdx.x; k < A.ncols; k += threads) sum = std::fma(A(i, k), B(k, first + c), sum);
      partial[c][threadIdx.x] = sum;
    }
    store_group(partial, i, first, C);
  }
}

/// The same with a tile of the row held by its threads, so that A is read once per group of columns.
template <class Real>
__global__ void __launch_bounds__(threads) row_tiles(In<Real> A, In<Real> B, Out<Real> C) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const partial = reinterpret_cast<Real(*)[threads + 1]>(memory);
  __shared__ Real tile[threads];
  const std::int64_t i = blockIdx.x;
  for (std::int64_t first = 0; first < C.ncols; first += columns_at_once) {
    for (int c = 0; c < columns_at_once; ++c) partial[c][threadIdx.x] = 0;
    for (std::int64_t k = threadIdx.x; k - threadIdx.x < A.ncols; k += threads) {
      __syncthreads();
      tile[threadIdx.x] = k < A.ncols ? A(i, k) : Real(0);
      __syncthreads();
      if (k >= A.ncols) continue;
      for (int c = 0; c < columns_at_once && first + c < C.ncols; ++c)
        partial[c][threadIdx.x] = std::fma(tile[threadIdx.x], B(k, first + c), partial[c][threadIdx.x]);
    }
    store_group(partial, i, first, C);
  }
}

enum class Step { row_per_block, column_groups, row_tiles };

template <Step step, class Real>
Prepared prepare(const DenseTask<Real>& task, const Where& where) {
  return dense_product<Cuda>(task, where, [](const Cuda& on, const In<Real>& A, const In<Real>& B, const Out<Real>& C) {
    if (C.nrows == 0 || C.ncols == 0) return;
    const auto kernel = step == Step::row_per_block   ? row_per_block<Real>
                        : step == Step::column_groups ? column_groups<Real>
                                                      : row_tiles<Real>;
    constexpr int shared = step == Step::row_per_block ? 0 : int(sizeof(Real[columns_at_once][threads + 1]));
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "a product by rows");
    kernel<<<unsigned(C.nrows), threads, shared, on.stream()>>>(A, B, C);
    check_launch("a product by rows");
  });
}

}  // namespace

std::vector<Rival> row_gemm_rivals() {
  std::vector<Rival> all;
  with_each_real([&]<class Real>(Real*) {
    const auto add = [&](std::string_view variant, std::string_view what, Prepare prepare) {
      all.push_back(
          {&gemm_kernel<Real>(), "dense", BackendName::cuda, variant, Role::rounded, what, std::move(prepare)});
    };
    add("row-per-block", "a block per row, a reduction per column", prepare<Step::row_per_block, Real>);
    add("column-groups", "a block per row, 28 columns per reduction", prepare<Step::column_groups, Real>);
    add("row-tiles", "the same, the row held in shared memory", prepare<Step::row_tiles, Real>);
  });
  return all;
}

}  // namespace seidel::drivers
