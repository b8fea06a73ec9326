// One direction of the sweep where wavefronts are few and wide, as colours are: a launch each, and nothing is awaited
// value by value. A launch begins while the one before it ends, asks for its part of the matrix and then waits for it.
#pragma once
#include <seidel/kernels/symgs/cuda/colour_parts.cuh>

namespace seidel::symgs_detail::device {

using cuda::await_launch_before, cuda::launch_after, cuda::let_next_begin;

constexpr int wide_threads = 128;

/// Slices first ... last - 1, a wavefront's; a lane takes a row, `batch` terms at a time. The first entries are asked
/// for before the launch before this one is awaited. pair_slots: not 0 where slices with more than 64 terms may be
/// among them, up to 16 pair_slots. blocks: at once on a multiprocessor, which decides how many loads the compiler puts
/// ahead; 0: as it likes.
template <class Columns, bool forward, bool general, int pair_slots, int batch, int blocks = 0>
__global__ void __launch_bounds__(wide_threads, blocks)
    sweep_wavefront(const Sweep<typename Columns::Real> S, Index first, Index last) {
  using Real = typename Columns::Real;
  using Value = typename Columns::Value;
  let_next_begin();
  constexpr int parts = Columns::lanes_per_row;  // warps per slice, for each strip
  const int strips = parts == 1 ? 1 : S.strips;
  const Index warp = Index(blockIdx.x * (wide_threads / lanes) + threadIdx.x / lanes),
              k = first + warp / (parts * strips);
  if (k >= last) return;
  // Unsigned: with a signed remainder here elasticity3d:96 by colours took 1.14 ms for 0.98.
  const int lane = warp % parts * (lanes / parts) + threadIdx.x % lanes / parts;
  const Columns strip = Columns::part(threadIdx.x % parts, warp / parts % strips, strips);
  const Item item = S.items[k];
  const int width = item.width();
  const LaneEntries<const Real> A(S.stream, item, lane);
  const bool active = lane < item.rows();
  const Real reciprocal = active ? A.value(width) : Real(0);
  if constexpr (pair_slots > 0)
    if (width > short_sum) {
      RowInParts<Columns, pair_slots> in_parts_of_row(A, width, active);
      await_launch_before();
      Lane<Columns, forward, general> row(S, strip, item.place + lane, active);
      row.load(S);
      return row.finish(S, in_parts_of_row.sum(strip, S.x), reciprocal);
    }
  Index c[batch];
  Real v[batch];
  const auto take = [&](int from) {
#pragma unroll
    for (int u = 0; u < batch; ++u) c[u] = active && from + u < width ? A.column(from + u) : no_column;
#pragma unroll
    for (int u = 0; u < batch; ++u) v[u] = active && from + u < width ? A.value(from + u) : Real(0);
  };
  take(0);
  await_launch_before();
  Lane<Columns, forward, general> row(S, strip, item.place + lane, active);
  row.load(S);
  Value sum{};
  for (int from = 0; from < width;) {
    Value g[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) g[u] = c[u] >= 0 ? strip.load(S.x, c[u]) : Value{};
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (from + u < width) sum = fused(v[u], g[u], sum);  // a zero term more might change a -0
    from += batch;
    take(from);
  }
  row.finish(S, sum, reciprocal);
}

/// The same for the wavefront that a direction begins with, whose rows have no terms: some slices per warp, or starting
/// blocks takes most of the time (47 us for 110, poisson3d:256).
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
    reciprocal[q] = place[q] >= 0 ? __ldcs(entries_at<const Real>(S.stream, item.at, 0).values + lane) : Real(0);
  }
  await_launch_before();
  const auto row_at = [&](Index p) { return Lane<Single<Real>, forward, general>(S, {}, p, p >= 0); };
  decltype(row_at(0)) row[slices_at_once] = {row_at(place[0]), row_at(place[1]), row_at(place[2]), row_at(place[3])};
#pragma unroll
  for (int q = 0; q < slices_at_once; ++q) row[q].load(S);
#pragma unroll
  for (int q = 0; q < slices_at_once; ++q) row[q].finish(S, Real(0), reciprocal[q]);
}

constexpr Index max_at_once = 4096;  // slices whose warps all run at a time, on a large device

/// One launch per wavefront. `ends`: what the forward sweep leaves in the last one is the pair's result.
template <class Columns, bool forward, bool general, class Real>
void sweep_wide(const Cuda& on, const Plan<Real>& plan, Sweep<Real> S, bool ends, bool can_begin_early) {
  const Index count = plan.nwavefronts;
  const Triangle<Real>& half = plan.half[forward ? 0 : 1];
  constexpr bool single = Columns::lanes_per_row == 1;
  const std::int64_t warps_per_slice = single ? 1 : Columns::lanes_per_row * S.strips;
  Real* const t = S.t;
  for (Index k = !forward && ends ? 1 : 0; k < count; ++k) {
    const Index w = forward ? k : count - 1 - k, begin = plan.first_slice[w], end = plan.first_slice[w + 1];
    const Index first = forward ? begin : plan.slices - end, last = forward ? end : plan.slices - begin;
    const bool b_is_t = single && w == 0 && plan.as_it_stands;
    if (forward) S.t = b_is_t || (ends && w == count - 1) ? nullptr : t;
    if (!forward && b_is_t) S.right = S.b;
    const auto go = [&](auto kernel, int slices_per_warp) {
      // What came before the first forward launch may have written what it reads at once.
      launch_after(on, can_begin_early && (!forward || k > 0), kernel,
                   {.blocks = blocks_for((last - first) * warps_per_slice, wide_threads / lanes * slices_per_warp),
                    .threads = wide_threads},
                   "a Gauss-Seidel sweep of a wavefront", S, first, last);
    };
    if constexpr (single)
      if (k == 0) {
        go(sweep_first_wavefront<Real, forward, general>, slices_at_once);
        continue;
      }
    // The fewer warps there are, the more loads each should have under way.
    const bool many = last - first > max_at_once, few = last - first <= max_at_once / 2;
    const Index in_parts = plan.in_parts && half.widths[w] > short_sum ? half.widths[w] : 0;
    if (in_parts > 6 * pairs_of_parts)  // rare: one kernel, whether relaxed or not
      go(sweep_wavefront<Columns, forward, true, max_of_pair, 8>, 1);
    else if (in_parts && few)
      go(sweep_wavefront<Columns, forward, general, 6, 8, 4 * single>, 1);
    else if (in_parts && many)
      go(sweep_wavefront<Columns, forward, general, 6, 8, 6 * single>, 1);
    else if (in_parts)
      go(sweep_wavefront<Columns, forward, general, 6, 8, 7 * single>, 1);
    else if (!single)
      go(sweep_wavefront<Columns, forward, general, 0, 8>, 1);
    else if (half.width <= 6)
      go(sweep_wavefront<Columns, forward, general, 0, 3>, 1);
    else if (!many)
      go(sweep_wavefront<Columns, forward, general, 0, 13>, 1);
    else if (!general && last - first <= 3 * max_at_once)
      go(sweep_wavefront<Columns, forward, false, 0, 10>, 1);
    else
      go(sweep_wavefront<Columns, forward, general, 0, 4>, 1);
  }
}

}  // namespace seidel::symgs_detail::device
