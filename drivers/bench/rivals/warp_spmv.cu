// SpMV on CSR with a warp for each row: the lanes stride along the row, so that its entries are read side by side.
// Source  Bell, Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, SC 2009.
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>

namespace seidel::drivers {

namespace {

constexpr int warp = 32, threads = 256;
using Csr32 = CsrView<double, std::int32_t, Device>;

__global__ void __launch_bounds__(threads) warp_per_row(Csr32 A, const double* x, double* y) {
  const std::int64_t row = (std::int64_t(blockIdx.x) * threads + threadIdx.x) / warp;
  const int lane = threadIdx.x % warp;
  if (row >= A.nrows) return;
  double sum = 0;
  for (std::int32_t k = A.row_ptr[row] + lane; k < A.row_ptr[row + 1]; k += warp)
    sum = std::fma(A.values[k], x[A.col_idx[k]], sum);
  for (int step = warp / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}

Prepared prepare(const ProductTask& task, const Where& where) {
  const Csr32 A = csr_of(*where.cuda, task.of);
  auto operands = std::make_shared<Operands<Cuda, Csr32>>(task.x, where, A.nrows, A);
  return prepared(operands, 0, 0, [](auto& o) {
    cuda::launch(o.on, warp_per_row, blocks_for(o.kept.nrows * std::int64_t(warp), threads), threads,
                 "a product with a warp per row", o.kept, o.x.data(), o.y.data());
  });
}

}  // namespace

std::vector<Rival> warp_spmv_rivals() {
  return {{&kernels::spmv, "csr", BackendName::cuda, "warp-per-row", Role::rounded, "a warp for each row", prepare}};
}

}  // namespace seidel::drivers
