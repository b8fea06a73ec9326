// y = A x from CSR where rows are uneven: a warp takes a tile.
#include <seidel/formats/instances.hpp>
#include <seidel/kernels/spmv/cuda_tile.cuh>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

// Measured on an H200; docs/notes/products.md has the tables.
constexpr int warps = 8;            // of a block: their tiles share elements of x in the first cache
constexpr int min_blocks = 3;       // per multiprocessor: 80 registers
constexpr int shared_percent = 25;  // of what a multiprocessor has for shared memory and the first cache, which keeps x
constexpr const char* name = "a product with a sparse matrix";

constexpr int rows_of_sharer = 4;

/// A lane takes four rows, 32 apart.
template <class Offset>
__global__ void __launch_bounds__(256)
    share_rows(const Offset* row_ptr, Index nrows, const __grid_constant__ TilesView to) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lane = cuda::lane();
  for (std::int64_t i = thread; i < to.narrivals; i += std::int64_t(gridDim.x) * blockDim.x) to.arrivals[i] = 0;
  const std::int64_t begin = (thread - lane) * rows_of_sharer;
#pragma unroll
  for (int turn = 0; turn < rows_of_sharer; ++turn) {
    const std::int64_t row = begin + turn * warp_size + lane;
    Index first = 0, last = -1;  // the tiles whose first row this is
    if (row <= nrows) {
      first = row == 0 ? 0 : Index(std::uint64_t(cost_before_row(row_ptr, Index(row - 1))) / TilesView::cost + 1);
      last = row == nrows ? to.count : Index(std::uint64_t(cost_before_row(row_ptr, Index(row))) / TilesView::cost);
    }
    const bool is_many = last - first > 3;
    if (!is_many)
      for (Index t = first; t <= last; ++t) to.first_rows[t] = Index(row);
    for (unsigned left = __ballot_sync(whole_warp, is_many); left; left &= left - 1) {
      const int who = __ffs(int(left)) - 1;
      const Index from = __shfl_sync(whole_warp, first, who), until = __shfl_sync(whole_warp, last, who);
      for (Index t = from + lane; t <= until; t += warp_size) to.first_rows[t] = Index(begin + turn * warp_size + who);
    }
  }
}

template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(warps* warp_size, min_blocks)
    sum_tiles(const __grid_constant__ TilesProduct<Real, Offset, Store> of, const Real* x) {
  __shared__ Factors<Real> factors_of_warps[warps][tile_room];
  const Index tile = Index(blockIdx.x) * warps + Index(threadIdx.x / warp_size);
  if (tile < of.tiles.count) sum_tile(of, ElementOf<Real>{x}, tile, factors_of_warps[threadIdx.x / warp_size]);
}

}  // namespace

template <class Offset>
void find_tiles(const Cuda& on, DeviceSpan<const Offset> row_ptr, const TilesView& to) {
  const Index nrows = Index(row_ptr.size() - 1);
  launch(on, share_rows<Offset>, blocks_for(nrows / rows_of_sharer + 1, 256), 256, "sharing rows", row_ptr.data(),
         nrows, to);
}

template <class Real, class Offset, class Store>
void tiles_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const TilesView& tiles, const Real* x,
                   const Store& store) {
  if (A.nrows == 0) return;
  Scratch scratch(on);
  const TilesProduct<Real, Offset, Store> of{A, store, tiles,
                                             scratch.take<Real>(2 * std::int64_t(tiles.narrivals)).data()};
  const auto kernel = sum_tiles<Real, Offset, Store>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, shared_percent),
             "dividing the first cache");
  launch(on, kernel, blocks_for(tiles.count, warps), warps * warp_size, name, of, x);
}

/// Never called: names every product, so that its code is emitted here.
void instances(const Cuda& on, const TilesView& tiles) {
  with_each_csr<Device>([&]<class Real>(const auto& A, Real* x) {
    tiles_product(on, A, tiles, x, StoreProduct<Real>{x});
    tiles_product(on, A, tiles, x, StoreResidual<Real>{x, x});
  });
  with_each_offset<Device>([&](const auto& row_ptr) { find_tiles(on, row_ptr, tiles); });
}

}  // namespace seidel::spmv_detail
