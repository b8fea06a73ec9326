// y = A x from CSR where rows are uneven: a warp takes a tile (tiles.hpp). Elements of x are fetched entry by entry, by
// neighbouring lanes for neighbouring entries, whatever row they are in. Rows of up to 64 entries are then added from shared
// memory by a thread each, longer ones by the lanes that fetched them.
#include <algorithm>

#include <seidel/kernels/spmv/cuda_cut_rows.cuh>
#include <seidel/kernels/spmv/cuda_streamed.cuh>
#include <seidel/kernels/spmv/row.hpp>
#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

// Measured on an H200; docs/notes/products.md has the tables.
constexpr int warps = 8;            // of a block: their tiles share elements of x in the first cache
constexpr int min_blocks = 3;       // per multiprocessor: 80 registers
constexpr int short_batch = 4;      // entries of short rows under way per lane
constexpr int shared_percent = 25;  // of what a multiprocessor has for shared memory and the first cache, which keeps x
constexpr const char* name = "a product with a sparse matrix";

template <class Offset>
__device__ std::int64_t cost_before_row(const Offset* row_ptr, Index row) {
  return cost_before(row_ptr[row], row);
}

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
struct Product {
  CsrView<Real, Offset, Device> A;
  const Real* x;
  Store store;
  TilesView tiles;
  Real* slots;  // 2 for each 2048 entries: the sums of pieces
};

/// The piece of the row before `first_row` that begins in the tile; 0 if none does.
template <class Offset>
__device__ Index covering_piece(const Offset* row_ptr, Index tile, Index first_row) {
  if (first_row == 0) return 0;
  const Index row = first_row - 1, length = Index(__ldg(row_ptr + first_row) - __ldg(row_ptr + row));
  if (length <= sum_block) return 0;
  const std::int64_t from_tile = std::int64_t(tile) * TilesView::cost - cost_before_row(row_ptr, row);  // > 0
  const std::int64_t piece = (from_tile + sum_block - 1) / sum_block;
  return piece < pieces_of(length) && piece * sum_block - from_tile < TilesView::cost ? Index(piece) : 0;
}

template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(warps* warp_size, min_blocks)
    sum_tiles(const __grid_constant__ Product<Real, Offset, Store> of) {
  constexpr int room = short_batch * warp_size;
  __shared__ Factors<Real> factors_of_warps[warps][room];
  Factors<Real>* const factors = factors_of_warps[threadIdx.x / warp_size];
  const int lane = cuda::lane();
  const Index tile = Index(blockIdx.x) * warps + Index(threadIdx.x / warp_size);
  if (tile >= of.tiles.count) return;
  const Offset* const row_ptr = of.A.row_ptr.data();
  const Index first_row = __ldg(of.tiles.first_rows + tile), end_row = __ldg(of.tiles.first_rows + tile + 1);
  Index cover = covering_piece(row_ptr, tile, first_row);
  Index base = first_row;
  do {
    const Index row = min(base + lane, end_row);
    const Offset first = __ldg(row_ptr + row);
    const Index length = row < end_row ? Index(__ldg(row_ptr + row + 1) - first) : 0;
    unsigned long_rows = __ballot_sync(whole_warp, length > short_sum);
    // The short rows' entries, numbered without the long ones between them: this row has begin ... end - 1.
    int end = length > short_sum ? 0 : int(length), begin = end;
#pragma unroll
    for (int by = 1; by < warp_size; by *= 2) {
      const int before = __shfl_up_sync(whole_warp, end, by);
      if (lane >= by) end += before;
    }
    begin = end - begin;
    const int count = __shfl_sync(whole_warp, end, warp_size - 1);
    const Offset from = __shfl_sync(whole_warp, first, 0);
    Real s = 0;
#pragma unroll 1
    for (int chunk = count > 0 ? -int(from % warp_size) : 0; chunk < count; chunk += room) {
      Offset at[short_batch];
#pragma unroll
      for (int j = 0; j < short_batch; ++j) at[j] = from + max(min(chunk + j * warp_size + lane, count - 1), 0);
#pragma unroll 1
      for (unsigned left = long_rows; left; left &= left - 1) {
        const int who = __ffs(int(left)) - 1, place = __shfl_sync(whole_warp, begin, who);
        const Index skipped = __shfl_sync(whole_warp, length, who);
#pragma unroll
        for (int j = 0; j < short_batch; ++j)
          if (chunk + j * warp_size + lane >= place) at[j] += skipped;
      }
      Factors<Real> mine[short_batch];
      Index columns[short_batch];
#pragma unroll
      for (int j = 0; j < short_batch; ++j) {
        mine[j].value = streamed(of.A.values.data() + at[j]);
        columns[j] = streamed(of.A.col_idx.data() + at[j]);
      }
#pragma unroll
      for (int j = 0; j < short_batch; ++j) mine[j].x = __ldg(of.x + columns[j]);
#pragma unroll
      for (int j = 0; j < short_batch; ++j) factors[j * warp_size + lane] = mine[j];
      __syncwarp();
      int k = max(begin - chunk, 0);
      const int last = min(end - chunk, room);
#pragma unroll 1
      for (; k + 3 < last; k += 4) {
        Factors<Real> four[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) four[j] = factors[k + j];
#pragma unroll
        for (int j = 0; j < 4; ++j) s = std::fma(four[j].value, four[j].x, s);
      }
#pragma unroll 1
      for (; k < last; ++k) s = std::fma(factors[k].value, factors[k].x, s);
      __syncwarp();
    }
    if (row < end_row && length <= short_sum) of.store(row, s);
#pragma unroll 1
    while (cover > 0 || long_rows) {
      const Index piece = cover;
      Index its_row = first_row - 1, its_length;
      Offset its_first;
      if (cover > 0) {
        its_first = __ldg(row_ptr + its_row);
        its_length = Index(__ldg(row_ptr + first_row) - its_first);
        cover = 0;
      } else {
        const int who = __ffs(int(long_rows)) - 1;
        its_row = base + who;
        its_first = __shfl_sync(whole_warp, first, who);
        its_length = __shfl_sync(whole_warp, length, who);
        long_rows &= long_rows - 1;
      }
      const Index before = piece * sum_block;
      const Real sum = piece_sum(of.A, of.x, Offset(its_first + before), min(sum_block, its_length - before));
      if (its_length > sum_block)
        finish_piece<Real>({of.tiles.arrivals, of.slots}, of.store, its_row, its_first, its_length, piece, sum);
      else if (lane == 0)
        of.store(its_row, sum);
    }
    base += warp_size;
  } while (base < end_row);
}

}  // namespace

template <class Offset>
void find_tiles(const Cuda& on, DeviceSpan<const Offset> row_ptr, const TilesView& to) {
  const Index nrows = Index(row_ptr.size() - 1);
  share_rows<<<blocks_for(nrows / rows_of_sharer + 1, 256), 256, 0, on.stream()>>>(row_ptr.data(), nrows, to);
  check_launch("sharing rows");
}

template <class Real, class Offset, class Store>
void tiles_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const TilesView& tiles, const Real* x,
                   const Store& store) {
  if (A.nrows == 0) return;
  Scratch scratch(on);
  const Product<Real, Offset, Store> of{A, x, store, tiles,
                                        scratch.take<Real>(2 * std::int64_t(tiles.narrivals)).data()};
  const auto kernel = sum_tiles<Real, Offset, Store>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, shared_percent),
             "dividing the first cache");
  launch(on, kernel, blocks_for(tiles.count, warps), warps * warp_size, name, of);
}

template void find_tiles(const Cuda&, DeviceSpan<const std::int32_t>, const TilesView&);
template void find_tiles(const Cuda&, DeviceSpan<const std::int64_t>, const TilesView&);

/// Never called: names every product, so that its code is emitted here.
template <class Real, class Offset>
void instances(const Cuda& on, const TilesView& tiles, Real* x) {
  const CsrView<Real, Offset, Device> A;
  tiles_product(on, A, tiles, x, StoreProduct<Real>{x});
  tiles_product(on, A, tiles, x, StoreResidual<Real>{x, x});
}
template void instances<double, std::int32_t>(const Cuda&, const TilesView&, double*);
template void instances<double, std::int64_t>(const Cuda&, const TilesView&, double*);
template void instances<float, std::int32_t>(const Cuda&, const TilesView&, float*);
template void instances<float, std::int64_t>(const Cuda&, const TilesView&, float*);

}  // namespace seidel::spmv_detail
