// One direction of the sweep where wavefronts are few and wide, as colours are: a launch each, and nothing is awaited
// value by value. A launch begins while the one before it ends, asks for its part of the matrix and then waits for it.
#pragma once
#include <seidel/kernels/symgs/cuda_natural_long.cuh>

namespace seidel::symgs_detail::natural {

/// Lets the next launch begin as soon as all blocks of this one have.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the launch before this one has ended and can be read.
__device__ inline void await_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

constexpr int wide_threads = 128;

/// Slices first ... last - 1, a wavefront's; a lane takes a row, `batch` terms at a time: 128 threads a block and 6 terms took
/// poisson3d:256 0.497 ms where 512 threads took 0.57; hpcg:192 took 0.72 with 8, 0.80 with 16, 0.84 with 26. The first entries are asked for before the launch before this
/// one is awaited. in_parts: slices with more than 64 terms may be among them.
template <class Real, bool forward, bool general, bool in_parts, int batch>
__global__ void __launch_bounds__(wide_threads) sweep_wavefront(const Sweep<Real> S, Index first, Index last) {
  let_next_begin();
  const Index k = first + Index(blockIdx.x * (wide_threads / lanes) + threadIdx.x / lanes);
  if (k >= last) return;
  const int lane = threadIdx.x % lanes;
  const Item item = S.items[k];
  const int width = item.width();
  const Entries<Real> A = entries_at(S, item.at, width);
  const Index* columns = A.columns + lane;
  const Real* values = A.values + lane;
  const bool active = lane < item.rows();
  const Real reciprocal = active ? __ldcs(values + width * lanes) : Real(0);
  if (in_parts && width > short_sum) {
    await_launch_before();
    Lane<Real, forward, general> row(S, item.place + lane, active);
    row.load(S);
    return row.finish(S, sum_in_parts(columns, values, width, active, S.x), reciprocal);
  }
  Index c[batch];
  Real v[batch];
  const auto take = [&](int from) {
#pragma unroll
    for (int u = 0; u < batch; ++u) c[u] = active && from + u < width ? __ldcs(columns + (from + u) * lanes) : -1;
#pragma unroll
    for (int u = 0; u < batch; ++u) v[u] = active && from + u < width ? __ldcs(values + (from + u) * lanes) : Real(0);
  };
  take(0);
  await_launch_before();
  Lane<Real, forward, general> row(S, item.place + lane, active);
  row.load(S);
  Real sum = 0;
  for (int from = 0; from < width;) {
    Real g[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) g[u] = c[u] >= 0 ? S.x[c[u]] : Real(0);
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (from + u < width) sum = std::fma(v[u], g[u], sum);  // a zero term more might change a -0
    from += batch;
    take(from);
  }
  row.finish(S, sum, reciprocal);
}

/// The same for the wavefront that a direction begins with, whose rows have no terms: some slices a warp, or starting blocks
/// takes most of the time (47 us for 110, poisson3d:256).
constexpr int slices_at_once = 4;
template <class Real, bool forward, bool general>
__global__ void __launch_bounds__(wide_threads) sweep_first_wavefront(const Sweep<Real> S, Index first, Index last) {
  let_next_begin();
  const Index k = first + Index(blockIdx.x * (wide_threads / lanes) + threadIdx.x / lanes) * slices_at_once;
  if (k >= last) return;
  const int lane = threadIdx.x % lanes;
  Real reciprocal[slices_at_once];
  Index place[slices_at_once];
#pragma unroll
  for (int q = 0; q < slices_at_once; ++q) {
    const Item item = S.items[k + q < last ? k + q : k];
    place[q] = k + q < last && lane < item.rows() ? item.place + lane : -1;
    reciprocal[q] = place[q] >= 0 ? __ldcs(entries_at(S, item.at, 0).values + lane) : Real(0);
  }
  await_launch_before();
  using Row = Lane<Real, forward, general>;
  Row row[slices_at_once] = {Row(S, place[0], place[0] >= 0), Row(S, place[1], place[1] >= 0),
                             Row(S, place[2], place[2] >= 0), Row(S, place[3], place[3] >= 0)};
#pragma unroll
  for (int q = 0; q < slices_at_once; ++q) row[q].load(S);
#pragma unroll
  for (int q = 0; q < slices_at_once; ++q) row[q].finish(S, Real(0), reciprocal[q]);
}

}  // namespace seidel::symgs_detail::natural
