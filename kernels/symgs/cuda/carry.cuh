// Sums over one triangle with an x that is there already: what a sweep from a guess needs of the other triangle.
#pragma once
#include <seidel/kernels/symgs/cuda/colour_parts.cuh>
#include <seidel/kernels/symgs/cuda/long_rows.cuh>

namespace seidel::symgs_detail::device {

constexpr int hand_over_threads = 1024, hand_over_rows = 4 * hand_over_threads;

/// The result, into the matrix's own order. Rows that follow each other lie in many wavefronts, but those some hundreds
/// of rows apart lie side by side, so a block takes some thousands: L1 then serves most of what L2 would have to.
template <class Real>
__global__ void __launch_bounds__(hand_over_threads)
    hand_over(const Real* x, const Index* place_of_row, Index nrows, Real* out) {
  const Index first = Index(blockIdx.x * hand_over_rows + threadIdx.x);
  Index place[hand_over_rows / hand_over_threads];
#pragma unroll
  for (int k = 0; k < hand_over_rows / hand_over_threads; ++k) {
    const std::int64_t row = std::int64_t(first) + k * hand_over_threads;
    place[k] = row < nrows ? __ldcs(place_of_row + row) : -1;
  }
#pragma unroll
  for (int k = 0; k < hand_over_rows / hand_over_threads; ++k)
    if (place[k] >= 0) __stcs(out + first + k * hand_over_threads, __ldg(x + place[k]));
}

/// The result of strips, into X. Two threads per row for each strip, side by side.
template <class Real>
__global__ void __launch_bounds__(hand_over_threads)
    hand_over_strips(const Real* x, const Index* place_of_row, Index nrows, Real* out, std::int64_t row_step,
                     std::int64_t column_step, int strips, int ncolumns) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x, row = thread / (2 * strips);
  if (row >= nrows) return;
  const auto strip = Strip<Real>::part(thread % 2, thread / 2 % strips, strips);
  const auto of_row = strip.load(x, __ldcs(place_of_row + row));
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (strip.column(e) < ncolumns) __stcs(out + row * row_step + strip.column(e) * column_step, of_row.at[e]);
}

/// What a sum of the x given as S.x leaves in S.t: S(upper), b - S(lower) or b + S(lower).
enum class Part { upper, minus_lower, plus_lower };

constexpr int carry_batch = 4;

template <bool in_parts, class Real, class Stride>
__device__ Real slice_sum(const Sweep<Real>& S, Part part, const Item& item, int lane, Stride stride) {
  const int width = item.width();
  const LaneEntries<const Real, Stride> A(S.stream, item, lane, stride);
  if constexpr (in_parts)
    if (width > short_sum) return RowInParts<Single<Real>, max_of_pair>(A, width, true).sum({}, S.x);
  Real sum = 0;
  for (int from = 0; from < width; from += carry_batch) {  // whose loads are under way together
    Index c[carry_batch];
    Real v[carry_batch], g[carry_batch];
#pragma unroll
    for (int u = 0; u < carry_batch; ++u) c[u] = from + u < width ? A.column(from + u) : no_column;
#pragma unroll
    for (int u = 0; u < carry_batch; ++u) v[u] = from + u < width ? A.value(from + u) : Real(0);
#pragma unroll
    for (int u = 0; u < carry_batch; ++u) g[u] = c[u] >= 0 ? S.x[c[u]] : Real(0);
#pragma unroll
    for (int u = 0; u < carry_batch; ++u)
      if (from + u < width) sum = std::fma(v[u], g[u], sum);
  }
  const bool lower = part != Part::upper;
  const int rank = lower ? lane % S.node : S.node - 1 - lane % S.node;
  const Index first = item.place + lane - lane % S.node;
  for (int q = 0; q < rank; ++q) {
    const Index other = first + (lower ? q : S.node - 1 - q);
    if (other < S.places) sum = std::fma(A.values[(width + 1 + q) * stride], S.x[other], sum);
  }
  return sum;
}

constexpr int carry_threads = 128;
enum class SliceForm { padded, in_parts, dense };

template <class Real>
__device__ void leave_sum(const Sweep<Real>& S, Part part, Index place, Real sum) {
  const Index row = S.row_of_place ? S.row_of_place[place] : place;
  if (part == Part::minus_lower) sum = -sum;
  S.t[place] = part == Part::upper ? sum : row >= 0 ? S.b[row] + sum : Real(0);
}

/// Tickets, since the blocks of long rows are awaited.
template <class Real, SliceForm form>
__global__ void __launch_bounds__(carry_threads) sum_part(const Sweep<Real> S, Part part) {
  const Index k = Index(draw_ticket(S.ticket) * (carry_threads / lanes) + threadIdx.x / lanes);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int lane = threadIdx.x % lanes;
  Patience patience(S.hung);
  switch (item.kind()) {
    case Kind::slice:
    case Kind::runs:
      if (lane >= item.rows()) return;
      if constexpr (form == SliceForm::dense)
        leave_sum(S, part, item.place + lane, slice_sum<false>(S, part, item, lane, item.rows()));
      else
        leave_sum(S, part, item.place + lane,
                  slice_sum<form == SliceForm::in_parts>(S, part, item, lane, FullStride{}));
      return;
    case Kind::row: {
      const Real sum = sum_of_terms(S, Single<Real>{}, item, lane, patience);
      if (lane == 0) leave_sum(S, part, item.place, sum);
      return;
    }
    case Kind::block: return sweep_block(S, Single<Real>{}, item, lane);
    case Kind::blocked_row: {
      const Real sum = sum_of_blocks(S, Single<Real>{}, item, lane, patience);
      if (lane == 0) leave_sum(S, part, item.place, sum);
      return;
    }
  }
}

/// The same for slices alone, which nobody awaits. A pair from a guess by colours, with tickets and without: poisson3d:256
/// 0.770 and 0.665 ms, and with as many blocks as a multiprocessor takes 0.619; hpcg:256 2.19, 2.03 and 1.95.
template <class Real, Part part>
__global__ void __launch_bounds__(carry_threads, 2048 / carry_threads) sum_slices(const Sweep<Real> S) {
  const Index k = Index(blockIdx.x * (carry_threads / lanes) + threadIdx.x / lanes);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int lane = threadIdx.x % lanes;
  if (lane >= item.rows()) return;
  leave_sum(S, part, item.place + lane, slice_sum<false>(S, part, item, lane, FullStride{}));
}

}  // namespace seidel::symgs_detail::device
