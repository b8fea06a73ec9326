// One direction of the exact natural-order sweep, in one launch: a warp takes an item, each lane one row. A lane holds its
// row's entries in registers, reads the x that they need until all are set, and sets its own.
//
// Why it looks so (measured on an H200; see docs): reads by all resident warps saturate L2, so a warp first awaits one
// value some wavefronts back; terms are summed in batches, so that few instructions are left when the last value
// arrives; a row's own x is unset once more at the start, so that it lies in L2 when others ask for it.
#pragma once
#include <seidel/kernels/symgs/cuda/tuning.hpp>
#include <seidel/kernels/symgs/cuda/vectors.cuh>

namespace seidel::symgs_detail::device {

/// What a sweep reads and writes. Vectors are in the sweep's order, by place, but for b with row_of_place. Those of
/// strips have eight entries a place for each strip, and b is any multivector.
template <class Real>
struct Sweep {
  const std::byte* stream;
  const Item* items;
  Index count;                    // of items
  Real* x = nullptr;              // unset at first; what the sweep computes
  Real* unset = nullptr;          // null or an array that the next sweep needs unset
  const Real* old = nullptr;      // null or x before the sweep; may be `unset`
  const Real* b;                  // forward: the right-hand side
  Real* t;                        // forward leaves t = b - S(lower) here, unless null
  const Real* right;              // backward: where that t is
  const Real* carried = nullptr;  // forward: null or S(upper) of the old x; may be t
  const Index* row_of_place;      // null: b is in the sweep's order too
  Real* sums;                     // of blocks of long rows
  Real omega;
  int node;
  std::int64_t ahead_bytes;  // of the stream, as far ahead as slices are brought into L2
  std::int64_t stream_bytes;
  Index places;
  unsigned *ticket, *hung;
  int strips = 1;                        // where there are several right-hand sides
  int b_columns = 1;                     // the columns that b has,
  std::int64_t b_row = 1, b_column = 0;  // steps in it from row to row and from column to column
};

/// The right-hand side of a lane's row and what else belongs to the row. `general`: relaxed, or with a guess.
template <class Columns, bool forward, bool general>
struct Lane {
  using Real = typename Columns::Real;
  using Value = typename Columns::Value;
  Columns columns;
  Index place, row;
  bool active;
  Value right, old{}, carried{};

  /// Asks for what load() needs: loads that do not wait for it come in between.
  __device__ Lane(const Sweep<Real>& S, const Columns& columns, Index place, bool active)
      : columns(columns), place(place), row(-1), active(active), right{} {
    if (!active) return;
    row = S.row_of_place ? __ldcs(S.row_of_place + place) : place;
    if constexpr (!forward) right = columns.load_once(S.right, place);
  }
  __device__ void load(const Sweep<Real>& S) {
    if (!active) return;
    if constexpr (forward) right = row >= 0 ? columns.right_side(S.b, row, S.b_row, S.b_column, S.b_columns) : Value{};
    if constexpr (general) {
      if (S.old) old = columns.load(S.old, place);
      if (forward && S.carried) carried = columns.load(S.carried, place);
    }
  }
  /// To be called once right-hand sides are loaded: `unset` may be `old`.
  __device__ void unset(const Sweep<Real>& S) const {
    if (active && S.unset) columns.store_once(S.unset, place, Columns::everywhere(Unset<Real>::value()));
  }
  __device__ Value result(const Sweep<Real>& S, const Value& sum, Real reciprocal) const {
    const Value t = forward ? right - sum : right, upper = forward ? carried : sum;
    if constexpr (general)
      return swept(t, upper, reciprocal, S.omega, old);
    else
      return (forward ? t : t - upper) * reciprocal;
  }
  __device__ void finish(const Sweep<Real>& S, const Value& sum, Real reciprocal) const {
    if (!active) return;
    columns.give(S.x, place, result(S, sum, reciprocal));
    if constexpr (forward)
      if (S.t) columns.store_once(S.t, place, right - sum);
  }
};

template <class Real, class Columns>
__device__ void await_watched(const Sweep<Real>& S, const Columns& columns, Index watch, Patience& patience) {
  if (watch >= 0)
    while (Unset<Real>::is(peek(columns.of_first_column(S.x, watch))) && !patience.ends()) {}
}

/// Awaits the values g[first] ... g[last - 1] of x at places c; asks again for those up to `beyond` on the way.
template <class Real, class Columns, int W>
__device__ void await(const Sweep<Real>& S, const Columns& columns, const Index (&c)[W],
                      typename Columns::Value (&g)[W], int first, int last, int beyond, Patience& patience) {
  for (;;) {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < W; ++u)
      if (u >= first && u < last) missing |= Columns::is_unset(g[u]);
    if (!__any_sync(whole_warp, missing)) return;
#pragma unroll
    for (int u = 0; u < W; ++u)
      if (u >= first && u < beyond && Columns::is_unset(g[u])) g[u] = columns.look(S.x, c[u]);
    if (patience.ends()) {
#pragma unroll
      for (int u = 0; u < W; ++u)
        if (Columns::is_unset(g[u])) g[u] = Columns::everywhere(NAN);
    }
  }
}

/// One lane per row, `lane` of the slice's 32, all of one wavefront. A lane that is not active only helps others to wait.
template <bool forward, bool general, class Tuning, class Real, class Columns, class Stride = FullStride>
__device__ void sweep_slice(const Sweep<Real>& S, const Columns& strip, const Item& item, int lane, bool active,
                            Stride stride = {}) {
  using Value = typename Columns::Value;
  constexpr int W = Tuning::entries, batch = Tuning::batch, inner = Tuning::inner;
  constexpr bool single = Tuning::one_pass;
  const Index place = item.place + lane;
  const int width = item.width();
  if (active) strip.set(S.x, place, Columns::everywhere(Unset<Real>::value()));
  const auto A = entries_at<const Real>(S.stream, item.at, column_units(width, stride));
  const Index* columns = A.columns + lane;
  const Real *values = A.values + lane, *own = values + width * stride;
  const Real reciprocal = __ldcs(own);
  Real within[inner > 0 ? inner : 1];
#pragma unroll
  for (int q = 0; q < inner; ++q) within[q] = q < S.node - 1 ? __ldcs(own + (q + 1) * stride) : Real(0);
  Lane<Columns, forward, general> row(S, strip, place, active);
  Patience patience(S.hung);
  Value sum{};
  int left = width, count = single || width <= W ? width : (width - 1) % W + 1;  // the first pass leaves full ones
  do {
    Index c[W];
    Real v[W];
    Value g[W];
    const int skip = W - count;  // slots that stay empty, before the others
#pragma unroll
    for (int u = 0; u < W; ++u) c[u] = active && u >= skip ? __ldcs(columns + (u - skip) * stride) : -1;
#pragma unroll
    for (int u = 0; u < W; ++u) v[u] = u >= skip ? __ldcs(values + (u - skip) * stride) : Real(0);
    if (single || left == width) {
      row.load(S);
      row.unset(S);
      await_watched(S, strip, item.watch, patience);
    }
#pragma unroll
    for (int u = 0; u < W; ++u) g[u] = c[u] >= 0 ? strip.look(S.x, c[u]) : Value{};
#pragma unroll
    for (int f = 0; f < W; f += batch) {
      await(S, strip, c, g, f, f + batch, f + 3 * batch, patience);
#pragma unroll
      for (int u = f; u < f + batch && u < W; ++u) sum = fused(v[u], g[u], sum);  // +0 where there is no entry
    }
    columns += count * stride, values += count * stride;
    left -= count, count = W;
  } while (!single && left > 0);
  if constexpr (inner > 0) {
    const int rank = forward ? lane % S.node : S.node - 1 - lane % S.node, first = -(lane % S.node);
#pragma unroll
    for (int q = 0; q < inner; ++q) {
      if (q >= S.node - 1) break;
      const Value other = strip.shuffle(row.result(S, sum, reciprocal), first + (forward ? q : S.node - 1 - q));
      if (rank > q) sum = fused(within[q], other, sum);
    }
  }
  row.finish(S, sum, reciprocal);
}

/// Slices before its turn at which a slice's data are brought into L2. H200: poisson3d:256 1.25 -> 1.23 ms, hpcg:192
/// 1.63 -> 1.52, elasticity3d:96 1.29 -> 1.22.
inline constexpr Index slices_ahead = 1024;

/// Brings into L2 what a slice that much later will read.
template <bool forward, class Real>
__device__ void bring_ahead(const Sweep<Real>& S, Index k, const Item& item, int columns) {
  const std::int64_t from = std::int64_t(item.at) * unit_bytes + S.ahead_bytes;
  const unsigned bytes = slice_units<Real>(item.width(), S.node, lanes, lanes) * unit_bytes;
  if (from + bytes <= S.stream_bytes) bring(S.stream + from, bytes);
  if (k % 8 == 0 && k + slices_ahead + 8 <= S.count) bring(S.items + k + slices_ahead, 8 * sizeof(Item));
  const std::int64_t place = item.place + std::int64_t(slices_ahead) * (forward ? lanes : -lanes);
  if (place < 0 || place + lanes > S.places) return;
  if (S.row_of_place) bring(S.row_of_place + place, lanes * sizeof(Index));
  if (!forward) bring(S.right + place * columns, lanes * columns * sizeof(Real));
}

/// The kernel for matrices whose items are all slices of one wavefront.
template <class Real, bool forward, bool general, class Tuning>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks) sweep_slices(const Sweep<Real> S) {
  const Index k = Index(draw_ticket(S.ticket) * (Tuning::threads / lanes) + threadIdx.x / lanes);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int lane = threadIdx.x % lanes;
  if (lane == 0) bring_ahead<forward>(S, k, item, 1);
  sweep_slice<forward, general, Tuning>(S, Single<Real>{}, item, lane, true);
}

}  // namespace seidel::symgs_detail::device
