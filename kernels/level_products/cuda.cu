// Products of a cycle on the GPU: a warp for each slice, its lanes the places.
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/level_products/instances.hpp>

namespace seidel {

namespace level_detail {

template <class Body>
void for_each_place(const Cuda& on, std::int64_t n, const Body& body) {
  cuda::for_each(on, n, "a step of a cycle", [body] __device__(std::int64_t i) { body(i); });
}

constexpr int block_threads = 256;

template <class Launch>
void with_lanes(int lanes, const Launch& launch) {
  switch (lanes) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 4: return launch(std::integral_constant<int, 4>());
    case 8: return launch(std::integral_constant<int, 8>());
    default: return launch(std::integral_constant<int, 32>());
  }
}

/// A warp fills a slice, 8 steps at a time: neighbouring lanes fetch neighbouring entries of a row, and write, once a tile in
/// shared memory is full, neighbouring places of a step.
template <int lanes, class Rows>
__global__ void __launch_bounds__(block_threads)
    fill_slice(const __grid_constant__ Rows rows, Index nrows, unsigned nslices, const Index* step_ptr, Index* col_idx,
               float* values) {
  constexpr int tile_steps = 8, per_row = tile_steps * lanes;
  __shared__ Index column_tiles[block_threads / slice_places][tile_steps][slice_places + 1];
  __shared__ float value_tiles[block_threads / slice_places][tile_steps][slice_places + 1];
  const unsigned warp = threadIdx.x / slice_places, lane = threadIdx.x % slice_places;
  const unsigned slice = blockIdx.x * (block_threads / slice_places) + warp;
  if (slice >= nslices) return;
  const auto columns = column_tiles[warp];
  const auto tile = value_tiles[warp];
  const Index last = step_ptr[slice + 1];
  Index first_entry = 0;
  for (Index step = step_ptr[slice]; step < last; step += tile_steps, first_entry += per_row) {
    for (unsigned at = lane; at < tile_steps * slice_places; at += slice_places) {
      const unsigned row = at / per_row, entry = at % per_row, i = slice * (slice_places / lanes) + row;
      const Index k = first_entry + Index(entry);
      const LevelEntry found =
          i < unsigned(nrows) && k < rows.length(Index(i)) ? rows.entry(Index(i), k) : LevelEntry{};
      columns[entry / lanes][row * lanes + entry % lanes] = found.column;
      tile[entry / lanes][row * lanes + entry % lanes] = found.value;
    }
    __syncwarp();
    for (int s = 0; s < tile_steps && step + s < last; ++s) {
      const std::int64_t to = std::int64_t(step + s) * slice_places + lane;
      col_idx[to] = columns[s][lane];
      values[to] = tile[s][lane];
    }
    __syncwarp();
  }
}

template <class Rows>
void fill_slices(const Cuda& on, const Rows& rows, LevelMatrix<Device>& M) {
  const std::int64_t nslices = M.step_ptr.size() - 1;
  with_lanes(M.lanes, [&](auto lanes) {
    fill_slice<lanes.value><<<blocks_for(nslices * slice_places, block_threads), block_threads, 0, on.stream()>>>(
        rows, M.nrows, unsigned(nslices), M.step_ptr.data(), M.col_idx.data(), M.values.data());
    check_launch("laying out a matrix of a cycle");
  });
}

template void instances(const Cuda&, const std::int32_t*);
template void instances(const Cuda&, const std::int64_t*);

namespace {

/// Few entries are under way per thread, but eight blocks per multiprocessor, with 32 registers: of lattices of 256^3
/// points 2.5 times as fast as 8 entries and the 100 registers that the compiler takes for them.
template <int lanes, class Result>
__global__ void __launch_bounds__(block_threads, 8)
    slices(const LevelView<Device> A, const float* __restrict__ x, const Combination c, const Result y) {
  const unsigned place = threadIdx.x % slice_places;
  const unsigned slice = blockIdx.x * (block_threads / slice_places) + threadIdx.x / slice_places;
  if (slice + 1 >= A.step_ptr.size()) return;
  const unsigned i = slice * (slice_places / lanes) + place / lanes;
  const bool stores = place % lanes == 0 && i < unsigned(A.nrows);
  Index step = __ldg(A.step_ptr.data() + slice);
  const Index last = __ldg(A.step_ptr.data() + slice + 1);
  const float terms = stores ? sum_of_terms(c, i) : 0;
  const std::int64_t first = std::int64_t(step) * slice_places + place;
  const Index* column = A.col_idx.data() + first;
  const float* value = A.values.data() + first;
  float sum = 0;
  constexpr int batch = 4;
  for (; step < last; step += batch, column += batch * slice_places, value += batch * slice_places) {
    Index columns[batch];
    float values[batch], factors[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (step + j < last) columns[j] = __ldcs(column + j * slice_places), values[j] = __ldcs(value + j * slice_places);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (step + j < last) factors[j] = __ldg(x + columns[j]);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (step + j < last) sum = std::fma(values[j], factors[j], sum);
  }
#pragma unroll
  for (int width = lanes / 2; width; width /= 2) sum = sum + __shfl_down_sync(0xffffffffu, sum, width);
  if (stores) store(y, i, std::fma(c.product, sum, terms));
}

}  // namespace
}  // namespace level_detail

template <class Result>
void level_product(const Cuda& on, const LevelView<Device>& A, const float* x, const Combination& c, Result y) {
  using namespace level_detail;
  if (A.nrows == 0) return;
  const unsigned blocks = blocks_for((A.step_ptr.size() - 1) * slice_places, block_threads);
  with_lanes(A.lanes, [&](auto lanes) {
    slices<lanes.value><<<blocks, block_threads, 0, on.stream()>>>(A, x, c, y);
    check_launch("a product of a cycle");
  });
}

template void level_product(const Cuda&, const LevelView<Device>&, const float*, const Combination&, float*);
template void level_product(const Cuda&, const LevelView<Device>&, const float*, const Combination&, ScaledResult);

}  // namespace seidel
