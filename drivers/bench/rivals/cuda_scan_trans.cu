// ScanTrans on a GPU: a worker is a warp, so that its entries of a column keep their order.
#include <seidel/drivers/bench/rivals/scan_trans.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>

namespace seidel::drivers {

namespace {

constexpr int warp = 32;
constexpr std::int64_t max_workers = 4096, max_table = std::int64_t(1) << 28;  // 1 GB of counters

/// rank[e]: among the entries of its column in its worker's part. counts is the worker's row of the table.
__global__ void count_columns(const Index* columns, std::int64_t nnz, std::int64_t part, std::int64_t width,
                              std::int32_t* table, std::int32_t* rank) {
  const std::int64_t worker = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp;
  const int lane = threadIdx.x % warp;
  const std::int64_t first = worker * part, last = min(first + part, nnz);
  volatile std::int32_t* const counts = table + (worker + 1) * width;
  for (std::int64_t step = first; step < last; step += warp) {
    const std::int64_t e = step + lane;
    const Index c = e < last ? columns[e] : -1;
    const unsigned alike = __match_any_sync(cuda::whole_warp, c);
    const std::int32_t before = c >= 0 ? counts[c] : 0;
    __syncwarp();
    if (c >= 0) {
      if (lane == __ffs(int(alike)) - 1) counts[c] = before + __popc(alike);
      rank[e] = before + __popc(alike & ((1u << lane) - 1));
    }
    __syncwarp();
  }
}

void run(ScanTransOn<Cuda>& o) {
  ScanTrans<Cuda>& k = o.kept;
  const std::int64_t nnz = o.A.nnz(), width = o.A.ncols + std::int64_t(1), nworkers = k.nworkers;
  const std::int64_t part = std::max<std::int64_t>((nnz + nworkers - 1) / nworkers, 1);
  std::int32_t* const table = k.table.data();
  pointers_to_indices(o.on, o.A.row_ptr, k.rows.span());
  cuda_check(cudaMemsetAsync(table, 0, std::size_t(k.table.size()) * sizeof *table, o.on.stream()),
             "clearing the table of ScanTrans");
  count_columns<<<blocks_for(nworkers * warp, 128), 128, 0, o.on.stream()>>>(o.A.col_idx.data(), nnz, part, width,
                                                                             table, k.rank.data());
  check_launch("counting columns");
  cuda::for_each(o.on, width, "summing down the table", [=] __device__(std::int64_t c) {
    std::int32_t sum = 0;
    for (std::int64_t row = 1; row <= nworkers; ++row) sum = table[row * width + c] += sum;
  });
  exclusive_scan(o.on, DeviceSpan<const std::int32_t>(table + nworkers * width, width), o.T.row_ptr.span());
  cuda::for_each(o.on, nnz, "placing entries",
                 [=, A = o.A, rows = k.rows.data(), rank = k.rank.data(), ptr = o.T.row_ptr.data(),
                  to = o.T.col_idx.data(), values = o.T.values.data()] __device__(std::int64_t e) {
                   const Index c = A.col_idx[e];
                   const std::int32_t at = ptr[c] + table[e / part * width + c] + rank[e];
                   to[at] = rows[e];
                   values[at] = A.values[e];
                 });
}

Prepared prepare(const TransposeTask& task, const Where& where) {
  const std::int64_t width = task.of.A.ncols + std::int64_t(1);
  // Blocks of four warps, all of them workers.
  return scan_trans<Cuda>(task, where, std::clamp<std::int64_t>(max_table / width, 4, max_workers) / 4 * 4, run);
}

}  // namespace

std::vector<Rival> cuda_scan_trans_rivals() {
  return {{&kernels::transpose, "csr", BackendName::cuda, "scantrans", Role::exact,
           "ScanTrans: columns counted by each warp, then scanned", prepare}};
}

}  // namespace seidel::drivers
