// Products of a cycle on the GPU: a warp for each slice, its lanes the places.
#include <seidel/formats/runtime/constant.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/level_products/instances.hpp>
#include <seidel/kernels/products/cuda_kinds.cuh>

namespace seidel {

namespace level_detail {

template <class Body>
void for_each_place(const Cuda& on, std::int64_t n, const Body& body) {
  cuda::for_each(on, n, "a step of a cycle", [body] __device__(std::int64_t i) { body(i); });
}

template <class Offset, class Body>
void for_each_row_of(const Cuda& on, const CsrView<double, Offset, Device>& R, const Body& body) {
  cuda::for_each_staged_row(on, R, "a step of a cycle", body);
}

constexpr int block_threads = 256;

void with_lanes(int lanes, const auto& launch) { with_constant<1, 4, 8, 32>(lanes, launch); }

template <int lanes, class Rows>
__global__ void __launch_bounds__(block_threads)
    longest_of_slices(const __grid_constant__ Rows rows, Index nrows, std::int64_t nslices, Index* steps) {
  constexpr int rows_per_slice = slice_places / lanes;
  const std::int64_t i = std::int64_t(blockIdx.x) * block_threads + threadIdx.x, slice = i / rows_per_slice;
  Index longest = i < nrows ? rows.length(Index(i)) : 0;
#pragma unroll
  for (int by = rows_per_slice / 2; by; by /= 2) longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, by));
  if (i % rows_per_slice == 0 && slice <= nslices) steps[slice] = slice < nslices ? (longest + lanes - 1) / lanes : 0;
}

void count_steps(const Cuda& on, const auto& rows, LevelMatrix<Device>& M) {
  const std::int64_t nslices = M.step_ptr.size() - 1;
  with_lanes(M.lanes, [&](auto lanes) {
    longest_of_slices<lanes.value>
        <<<blocks_for((nslices + 1) * (slice_places / lanes.value), block_threads), block_threads, 0, on.stream()>>>(
            rows, M.nrows, nslices, M.step_ptr.data());
    check_launch("the sizes of a matrix of a cycle");
  });
}

/// A warp fills a slice. Neighbouring lanes copy neighbouring entries of its rows to shared memory, which has `room` for most
/// slices; then each lane reads its row from there, or where it is.
template <int lanes, Fill what, class Rows>
__global__ void __launch_bounds__(cuda::StageShape::max_warps* slice_places)
    fill_slice(const __grid_constant__ Rows rows, Index nrows, unsigned nslices, const Index* step_ptr, Index* col_idx,
               float* values, int room) {
  constexpr int rows_per_slice = slice_places / lanes, batch = 4;
  const Index place = threadIdx.x % slice_places;
  const unsigned slice = (blockIdx.x * blockDim.x + threadIdx.x) / slice_places;
  if (slice >= nslices) return;
  const Index first_row = Index(slice) * rows_per_slice, i = min(first_row + place / lanes, nrows - 1);
  const auto stored = cuda::with_staged(rows.stored, first_row, min(first_row + rows_per_slice, nrows),
                                        cuda::own_stage<double>(room, what == Fill::columns_and_values));
  const auto begin = stored.row_ptr[i];
  typename Rows::Row row(rows, i, stored.col_idx.data() + begin, stored.values.data() + begin);
  const Index length = first_row + place / lanes < nrows ? rows.length(i) : 0;
  const Index steps = step_ptr[slice + 1] - step_ptr[slice];
  const std::int64_t first = std::int64_t(step_ptr[slice]) * slice_places + place;
  cuda::wait_for_staged();
  for (Index step = 0; step < steps; step += batch) {
    Index columns[batch];
    float found[batch];
#pragma unroll
    for (int s = 0; s < batch; ++s) {
      const Index k = (step + s) * lanes + place % lanes;
      columns[s] = k >= length                        ? 0
                   : what == Fill::columns_and_values ? row.column(k)
                                                      : __ldcs(col_idx + first + (step + s) * slice_places);
    }
#pragma unroll
    for (int s = 0; s < batch; ++s) {
      const Index k = (step + s) * lanes + place % lanes;
      found[s] = k < length ? row.value(k, columns[s]) : 0;
    }
#pragma unroll
    for (int s = 0; s < batch; ++s)
      if (step + s < steps) {
        const std::int64_t to = first + std::int64_t(step + s) * slice_places;
        if (what == Fill::columns_and_values) __stcs(col_idx + to, columns[s]);
        __stcs(values + to, found[s]);
      }
  }
}

template <Fill what, class Rows>
void fill_slices_with(const Cuda& on, const Rows& rows, LevelMatrix<Device>& M) {
  const std::int64_t nslices = M.step_ptr.size() - 1;
  const cuda::StageShape shape(rows.stored.nnz(), nslices,
                               sizeof(double) + (what == Fill::columns_and_values ? sizeof(Index) : 0));
  with_lanes(M.lanes, [&](auto lanes) {
    fill_slice<lanes.value, what>
        <<<blocks_for(nslices * slice_places, shape.threads()), shape.threads(), shape.bytes(), on.stream()>>>(
            rows, M.nrows, unsigned(nslices), M.step_ptr.data(), M.col_idx.data(), M.values.data(), shape.room);
    check_launch("laying out a matrix of a cycle");
  });
}

void fill_slices(const Cuda& on, const auto& rows, Fill what, LevelMatrix<Device>& M) {
  what == Fill::values ? fill_slices_with<Fill::values>(on, rows, M)
                       : fill_slices_with<Fill::columns_and_values>(on, rows, M);
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

/// The same for a group of columns: a thread takes its place for all of them, and reads their factors as one.
template <int lanes, class Result>
__global__ void __launch_bounds__(block_threads)
    slices_of_columns(const LevelView<Device> A, int k, const float* __restrict__ x, const Combination c,
                      const Result y) {
  const unsigned place = threadIdx.x % slice_places;
  const unsigned slice = blockIdx.x * (block_threads / slice_places) + threadIdx.x / slice_places;
  if (slice + 1 >= A.step_ptr.size()) return;
  const unsigned i = slice * (slice_places / lanes) + place / lanes;
  const int j = int(blockIdx.y) * group_columns;
  const Index first = __ldg(A.step_ptr.data() + slice), last = __ldg(A.step_ptr.data() + slice + 1);
  SumGroup<float, group_columns> sum{};
#pragma unroll 4
  for (Index step = first; step < last; ++step) {
    const std::int64_t entry = std::int64_t(step) * slice_places + place;
    const float value = __ldg(A.values.data() + entry);
    const float4 factors =
        __ldg(reinterpret_cast<const float4*>(x + std::int64_t(__ldg(A.col_idx.data() + entry)) * k + j));
    sum = {std::fma(value, factors.x, sum.of[0]), std::fma(value, factors.y, sum.of[1]),
           std::fma(value, factors.z, sum.of[2]), std::fma(value, factors.w, sum.of[3])};
  }
#pragma unroll
  for (int width = lanes / 2; width; width /= 2)
#pragma unroll
    for (int w = 0; w < group_columns; ++w) sum.of[w] = sum.of[w] + __shfl_down_sync(0xffffffffu, sum.of[w], width);
  if (place % lanes != 0 || i >= unsigned(A.nrows)) return;
#pragma unroll
  for (int w = 0; w < group_columns; ++w)
    store(y, k, i, j + w, std::fma(c.product, sum.of[w], sum_of_terms(c, std::int64_t(i) * k + j + w)));
}

/// The same by kinds of rows: a thread for a row and a group of columns.
template <class Result>
__global__ void __launch_bounds__(product_detail::product_threads)
    kinds_of_columns(Index nrows, Index kinds, Index entry_count, const std::uint8_t* kind, const Index* first,
                     const KindEntry<float>* entries, int k, const float* __restrict__ x,
                     const __grid_constant__ Combination c, const __grid_constant__ Result y) {
  extern __shared__ double2 shared[];
  const product_detail::SharedKinds<float> A(shared, kinds, entry_count, first, entries);
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int j = int(blockIdx.y) * group_columns;
  if (i >= nrows) return;
  SumGroup<float, group_columns> sum{};
  for (int e = A.start[kind[i]]; e < A.start[kind[i] + 1]; ++e) {
    const float value = A.entry[e].value;
    const float4 factors = __ldg(reinterpret_cast<const float4*>(x + (i + A.entry[e].offset) * k + j));
    sum = {std::fma(value, factors.x, sum.of[0]), std::fma(value, factors.y, sum.of[1]),
           std::fma(value, factors.z, sum.of[2]), std::fma(value, factors.w, sum.of[3])};
  }
#pragma unroll
  for (int w = 0; w < group_columns; ++w)
    store(y, k, i, j + w, std::fma(c.product, sum.of[w], sum_of_terms(c, i * k + j + w)));
}

}  // namespace
}  // namespace level_detail

void level_product(const Cuda& on, const LevelView<Device>& A, int k, const float* x, const Combination& c, auto y) {
  using namespace level_detail;
  if (A.nrows == 0 || k == 0) return;
  if (A.kinds) {
    using namespace product_detail;
    const dim3 blocks(blocks_for(A.nrows, product_threads), unsigned(k / group_columns));
    kinds_of_columns<<<blocks, product_threads, SharedKinds<float>::bytes(*A.kinds), on.stream()>>>(
        A.nrows, A.kinds->kinds, A.kinds->entry_count, A.kinds->kind.data(), A.kinds->first.data(),
        A.kinds->entries.data(), k, x, c, y);
    return check_launch("a product of a cycle by kinds with several columns");
  }
  const dim3 blocks(blocks_for((A.step_ptr.size() - 1) * slice_places, block_threads), unsigned(k / group_columns));
  with_lanes(A.lanes, [&](auto lanes) {
    slices_of_columns<lanes.value><<<blocks, block_threads, 0, on.stream()>>>(A, k, x, c, y);
    check_launch("a product of a cycle with several columns");
  });
}

template void level_product(const Cuda&, const LevelView<Device>&, int, const float*, const Combination&, float*);
template void level_product(const Cuda&, const LevelView<Device>&, int, const float*, const Combination&,
                            ScaledColumns<Device>);

void level_product(const Cuda& on, const LevelView<Device>& A, const float* x, const Combination& c, auto y) {
  using namespace level_detail;
  if (A.nrows == 0) return;
  if (A.kinds) return product_detail::launch_kinds(on, *A.kinds, x, StoreCombination<decltype(y)>{c, y});
  const unsigned blocks = blocks_for((A.step_ptr.size() - 1) * slice_places, block_threads);
  with_lanes(A.lanes, [&](auto lanes) {
    slices<lanes.value><<<blocks, block_threads, 0, on.stream()>>>(A, x, c, y);
    check_launch("a product of a cycle");
  });
}

template void level_product(const Cuda&, const LevelView<Device>&, const float*, const Combination&, float*);
template void level_product(const Cuda&, const LevelView<Device>&, const float*, const Combination&, ScaledResult);

}  // namespace seidel
