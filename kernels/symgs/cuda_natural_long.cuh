// Items other than slices of one wavefront: rows with long parts, by a warp or by blocks of 2048 terms, and slices
// whose rows wait for each other.
#pragma once
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/symgs/cuda_natural_sweep.cuh>

namespace seidel::symgs_detail::natural {

/// Rows of several wavefronts, as in a chain: no lane may spin while others stand behind it, so in each round every
/// lane takes one more term if that is there.
template <class Real, bool forward, bool general>
__device__ void sweep_mixed(const Sweep<Real>& S, const Item& item, int lane) {
  const int width = item.width();
  const Entries<Real> A = entries_at(S, item.at, width);
  Lane<Real, forward, general> row(S, item.place + lane, lane < item.rows());
  row.load(S);
  row.unset(S);
  Patience patience(S.hung);
  await_watched(S, item.watch, patience);
  __syncwarp();
  bool done = !row.active;
  const Real reciprocal = done ? Real(0) : __ldcs(A.values + width * lanes + lane);
  Real sum = 0, value = 0;
  Index column = -1;
  int next = 0;  // entry
  const auto take = [&] {
    column = __ldcs(A.columns + next * lanes + lane);
    value = __ldcs(A.values + next * lanes + lane);
    ++next;
  };
  bool holding = false;
  if (!done && width > 0) take(), holding = true;
  while (__any_sync(whole_warp, !done)) {
    if (!done) {
      if (holding) {
        Real g = column >= 0 ? peek(S.x + column) : Real(0);
        if (Unset<Real>::is(g) && patience.ends()) g = Real(NAN);
        if (!Unset<Real>::is(g)) {
          sum = std::fma(value, g, sum);
          holding = next < width;
          if (holding) take();
        }
      }
      if (!holding) row.finish(S, sum, reciprocal), done = true;
    }
  }
}

/// This lane's share of up to 2048 terms: lane, lane + 32, ... from left to right.
template <class Real>
__device__ Real sum_of_lane(const Sweep<Real>& S, const Entries<Real>& A, int terms, int lane, Patience& patience) {
  constexpr int group = 8;
  Real sum = 0;
  const int steps = (terms + lanes - 1) / lanes;
  for (int step = 0; step < steps; step += group) {
    Index c[group];
    Real v[group], g[group];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const bool there = (step + k) * lanes + lane < terms;
      c[k] = there ? __ldcs(A.columns + (step + k) * lanes + lane) : -1;
      v[k] = there ? __ldcs(A.values + (step + k) * lanes + lane) : Real(0);
    }
#pragma unroll
    for (int k = 0; k < group; ++k) g[k] = c[k] >= 0 ? peek(S.x + c[k]) : Real(0);
    await(S, c, g, 0, group, group, patience);
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (c[k] >= 0) sum = std::fma(v[k], g[k], sum);
  }
  return sum;
}

/// At most 64 terms, from left to right; every lane gets the sum.
template <class Real>
__device__ Real sum_in_order(const Sweep<Real>& S, const Entries<Real>& A, int terms, int lane, Patience& patience) {
  constexpr int group = short_sum / lanes;
  Index c[group];
  Real v[group], g[group], sum = 0;
#pragma unroll
  for (int k = 0; k < group; ++k) {
    const bool there = k * lanes + lane < terms;
    c[k] = there ? __ldcs(A.columns + k * lanes + lane) : -1;
    v[k] = there ? __ldcs(A.values + k * lanes + lane) : Real(0);
  }
#pragma unroll
  for (int k = 0; k < group; ++k) g[k] = c[k] >= 0 ? peek(S.x + c[k]) : Real(0);
  await(S, c, g, 0, group, group, patience);
#pragma unroll
  for (int k = 0; k < group; ++k)
    for (int l = 0; l < lanes && k * lanes + l < terms; ++l)
      sum = std::fma(__shfl_sync(whole_warp, v[k], l), __shfl_sync(whole_warp, g[k], l), sum);
  return sum;
}

template <class Real>
__device__ Real reciprocal_at(const Sweep<Real>& S, unsigned at) {
  return *reinterpret_cast<const Real*>(S.stream + std::int64_t(at) * unit_bytes);
}

template <class Real>
__device__ Entries<Real> terms_of(const Sweep<Real>& S, const Item& item) {
  return entries_at(S, item.at, (item.width() + lanes - 1) / lanes);
}

/// All terms of a row that has at most 2048; the sum is in lane 0.
template <class Real>
__device__ Real sum_of_terms(const Sweep<Real>& S, const Item& item, int lane, Patience& patience) {
  const int terms = item.width();
  const Entries<Real> A = terms_of(S, item);
  return terms <= short_sum ? sum_in_order(S, A, terms, lane, patience)
                            : cuda::warp_sum(sum_of_lane(S, A, terms, lane, patience));
}

/// The sums of a row's blocks, added in the one tree; it is in lane 0. Leaves them unset for the next sweep.
template <class Real>
__device__ Real sum_of_blocks(const Sweep<Real>& S, const Item& item, int lane, Patience& patience) {
  const int blocks = item.width();
  Real* const sums = S.sums + item.watch;
  PairwiseTree<Real> tree;  // of sums of 32 blocks
  for (int first = 0; first < blocks; first += lanes) {
    const int count = blocks - first < lanes ? blocks - first : lanes;
    Real s = 0;
    if (lane < count) {
      while (Unset<Real>::is(s = peek(sums + first + lane)))
        if (patience.ends()) {
          s = Real(NAN);
          break;
        }
      put(sums + first + lane, Unset<Real>::value());
    }
    __syncwarp();
    s = cuda::warp_tree(s, count);
    if (lane == 0) tree.push(s);
  }
  return tree.sum();
}

template <class Real>
__device__ void sweep_block(const Sweep<Real>& S, const Item& item, int lane) {
  Patience patience(S.hung);
  await_watched(S, item.watch, patience);
  __syncwarp();
  const Real sum = cuda::warp_sum(sum_of_lane(S, terms_of(S, item), item.width(), lane, patience));
  if (lane == 0) publish(S.sums + item.place, sum);
}

template <class Real, bool forward, bool general>
__device__ void sweep_row(const Sweep<Real>& S, const Item& item, int lane) {
  Lane<Real, forward, general> row(S, item.place, lane == 0);
  row.load(S);
  row.unset(S);
  Patience patience(S.hung);
  if (item.kind() == Kind::blocked_row)
    return row.finish(S, sum_of_blocks(S, item, lane, patience), reciprocal_at(S, item.at));
  await_watched(S, item.watch, patience);
  __syncwarp();
  const Real sum = sum_of_terms(S, item, lane, patience);
  row.finish(S, sum, reciprocal_at(S, item.at + terms_units<Real>(item.width())));
}

inline constexpr int most_in_parts = 4 * lanes;  // terms that a lane adds alone

/// Terms u of a lane's row for u = first, first + step, ... below `last` and width, of an x that is all there.
template <int most, class Real>
struct Terms {
  Index c[most];
  Real v[most], g[most];
  __device__ Terms(const Index* columns, const Real* values, int first, int step, int last, bool active,
                   const Real* x) {
#pragma unroll
    for (int k = 0; k < most; ++k)
      c[k] = active && first + k * step < last ? __ldcs(columns + (first + k * step) * lanes) : -1;
#pragma unroll
    for (int k = 0; k < most; ++k)
      v[k] = active && first + k * step < last ? __ldcs(values + (first + k * step) * lanes) : Real(0);
#pragma unroll
    for (int k = 0; k < most; ++k) g[k] = c[k] >= 0 ? x[c[k]] : Real(0);
  }
  __device__ Real add(int k, Real sum) const { return c[k] >= 0 ? std::fma(v[k], g[k], sum) : sum; }
};

/// Up to most_in_parts terms of a lane's own row, in a slice where some lane has more than 64; of an x that is all there.
/// More than 64 are added as a warp's lanes would add them: 32 parts, taken in such an order that few of the tree's sums wait.
template <class Real>
__device__ Real sum_in_parts(const Index* columns, const Real* values, int width, bool active, const Real* x) {
  constexpr int each = most_in_parts / lanes, pairs = lanes / 2;
  Real waiting[5];
  int terms = 0;
#pragma unroll
  for (int i = 0; i < pairs; ++i) {
    const int l = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
    const Terms<2 * each, Real> T(columns, values, l, pairs, width, active, x);  // l, l + 16, l + 32, ...
    Real s = 0, other = 0;
#pragma unroll
    for (int k = 0; k < 2 * each; k += 2) {
      s = T.add(k, s), other = T.add(k + 1, other);
      terms += (T.c[k] >= 0) + (T.c[k + 1] >= 0);
    }
    s = s + other;
    int level = 0;
#pragma unroll
    for (int bits = i; bits & 1; bits >>= 1) s = waiting[level++] + s;
    waiting[level] = s;
  }
  Real sum = waiting[4];
  if (active && terms <= short_sum) {  // those of few lanes are read again
    Real in_order = 0;
    for (int from = 0; from < terms; from += 8) {
      const Terms<8, Real> T(columns, values, from, 1, terms, true, x);
#pragma unroll
      for (int k = 0; k < 8; ++k) in_order = T.add(k, in_order);
    }
    sum = in_order;
  }
  return sum;
}

/// The kernel for matrices with long rows or with wavefronts of a few rows.
template <class Real, bool forward, bool general, int W, int batch, int threads>
__global__ void __launch_bounds__(threads) sweep_items(const Sweep<Real> S) {
  const Index k = Index(draw_ticket(S.ticket) * (threads / lanes) + threadIdx.x / lanes);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int lane = threadIdx.x % lanes;
  switch (item.kind()) {
    case Kind::slice: return sweep_slice<Real, forward, general, 0, W, batch, false>(S, item, lane);
    case Kind::mixed: return sweep_mixed<Real, forward, general>(S, item, lane);
    case Kind::block: return sweep_block(S, item, lane);
    case Kind::row:
    case Kind::blocked_row: return sweep_row<Real, forward, general>(S, item, lane);
  }
}

}  // namespace seidel::symgs_detail::natural
