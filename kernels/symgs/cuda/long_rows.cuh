// Sweeps of arrangements without gaps: slices of few rows, and rows with long parts, which a warp takes, or blocks of
// 2048 terms. All kinds of slices for several right-hand sides.
#pragma once
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/symgs/cuda/slices.cuh>

namespace seidel::symgs_detail::device {

/// `group` terms of a lane, from number `first` + lane on in steps of 32, whose x has been awaited. c < 0: no term.
template <int group, class Real, class Columns>
struct AwaitedTerms {
  Index c[group];
  Real v[group];
  typename Columns::Value x[group];

  __device__ AwaitedTerms(const Sweep<Real>& S, const Columns& strip, const Entries<const Real>& A, int first,
                          int terms, int lane, Patience& patience) {
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const int at = first + k * lanes + lane;
      c[k] = at < terms ? __ldcs(A.columns + at) : -1;
      v[k] = at < terms ? __ldcs(A.values + at) : 0;
    }
#pragma unroll
    for (int k = 0; k < group; ++k) x[k] = c[k] >= 0 ? strip.look(S.x, c[k]) : typename Columns::Value{};
    await(S, strip, c, x, 0, group, group, patience);
  }
};

/// This lane's share of up to 2048 terms: lane, lane + 32, ... from left to right.
template <class Real, class Columns>
__device__ auto sum_of_lane(const Sweep<Real>& S, const Columns& strip, const Entries<const Real>& A, int terms,
                            int lane, Patience& patience) {
  constexpr int group = 8;
  typename Columns::Value sum{};
  for (int first = 0; first < terms; first += group * lanes) {
    const AwaitedTerms<group, Real, Columns> some(S, strip, A, first, terms, lane, patience);
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (some.c[k] >= 0) sum = fused(some.v[k], some.x[k], sum);
  }
  return sum;
}

/// At most 64 terms, from left to right; every lane gets the sum.
template <class Real, class Columns>
__device__ auto sum_in_order(const Sweep<Real>& S, const Columns& strip, const Entries<const Real>& A, int terms,
                             int lane, Patience& patience) {
  constexpr int group = short_sum / lanes;
  const AwaitedTerms<group, Real, Columns> all(S, strip, A, 0, terms, lane, patience);
  typename Columns::Value sum{};
#pragma unroll
  for (int k = 0; k < group; ++k)
    for (int l = 0; l < lanes && k * lanes + l < terms; ++l)
      sum = fused(__shfl_sync(whole_warp, all.v[k], l), from_lane(all.x[k], l), sum);
  return sum;
}

template <class Real>
__device__ Real reciprocal_at(const Sweep<Real>& S, unsigned at) {
  return *reinterpret_cast<const Real*>(S.stream + std::int64_t(at) * unit_bytes);
}

template <class Real>
__device__ Entries<const Real> terms_of(const Sweep<Real>& S, const Item& item) {
  return entries_at<const Real>(S.stream, item.at, (item.width() + lanes - 1) / lanes);
}

/// All terms of a row that has at most 2048; the sum is in lane 0.
template <class Real, class Columns>
__device__ auto sum_of_terms(const Sweep<Real>& S, const Columns& strip, const Item& item, int lane,
                             Patience& patience) {
  const int terms = item.width();
  const auto A = terms_of(S, item);
  return terms <= short_sum ? sum_in_order(S, strip, A, terms, lane, patience)
                            : cuda::warp_sum(sum_of_lane(S, strip, A, terms, lane, patience));
}

/// The sums of a row's blocks, added in the one tree; it is in lane 0. Leaves them unset for the next sweep.
template <class Real, class Columns>
__device__ auto sum_of_blocks(const Sweep<Real>& S, const Columns& strip, const Item& item, int lane,
                              Patience& patience) {
  using Value = typename Columns::Value;
  const int blocks = item.width();
  PairwiseTree<Value> tree;  // of sums of 32 blocks
  for (int first = 0; first < blocks; first += lanes) {
    const int count = blocks - first < lanes ? blocks - first : lanes;
    const Index mine = item.watch + first + lane;
    Value s{};
    if (lane < count) {
      while (Columns::is_unset(s = strip.look(S.sums, mine)))
        if (patience.ends()) {
          s = Columns::everywhere(NAN);
          break;
        }
      strip.set(S.sums, mine, Columns::everywhere(Unset<Real>::value()));
    }
    __syncwarp();
    s = cuda::warp_tree(s, count);
    if (lane == 0) tree.push(s);
  }
  return tree.sum();
}

template <class Real, class Columns>
__device__ void sweep_block(const Sweep<Real>& S, const Columns& strip, const Item& item, int lane) {
  Patience patience(S.hung);
  await_watched(S, strip, item.watch, patience);
  __syncwarp();
  const auto sum = cuda::warp_sum(sum_of_lane(S, strip, terms_of(S, item), item.width(), lane, patience));
  if (lane == 0) strip.give(S.sums, item.place, sum);
}

template <bool forward, bool general, class Real, class Columns>
__device__ void sweep_row(const Sweep<Real>& S, const Columns& strip, const Item& item, int lane) {
  Lane<Columns, forward, general> row(S, strip, item.place, lane == 0);
  row.load(S);
  row.unset(S);
  Patience patience(S.hung);
  if (item.kind() == Kind::blocked_row)
    return row.finish(S, sum_of_blocks(S, strip, item, lane, patience), reciprocal_at(S, item.at));
  await_watched(S, strip, item.watch, patience);
  __syncwarp();
  const auto sum = sum_of_terms(S, strip, item, lane, patience);
  row.finish(S, sum, reciprocal_at(S, item.at + terms_units<Real>(item.width())));
}

/// The kernel for arrangements without gaps.
template <class Real, bool forward, bool general, class Tuning>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks) sweep_items(const Sweep<Real> S) {
  constexpr Single<Real> one;
  const Index k = Index(draw_ticket(S.ticket) * (Tuning::threads / lanes) + threadIdx.x / lanes);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int lane = threadIdx.x % lanes;
  switch (item.kind()) {
    case Kind::slice: {
      const bool active = lane < item.rows();
      return sweep_slice<forward, general, Tuning>(S, one, item, active ? lane : 0, active, item.rows());
    }
    case Kind::runs: return;  // only where each wavefront has a launch
    case Kind::block: return sweep_block(S, one, item, lane);
    case Kind::row:
    case Kind::blocked_row: return sweep_row<forward, general>(S, one, item, lane);
  }
}

/// Both kernels for strips of eight right-hand sides. For each strip the rows of a slice go to two warps (nodes of 6:
/// to three), up to 16 rows to each, but whole nodes; of an item that takes all lanes for a row, each warp does half of
/// the strip's columns.
template <class Real, bool forward, bool general, class Tuning, bool items>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks) sweep_strips(const Sweep<Real> S) {
  const int rows = strip_rows(S.node), warps = strip_warps(S.node);
  const Index warp = Index(draw_ticket(S.ticket) * (blockDim.x / lanes) + threadIdx.x / lanes),
              k = warp / (warps * S.strips);
  if (k >= S.count) return;
  const Item item = S.items[k];
  const int strip = warp / warps % S.strips, part = warp % warps, lane = threadIdx.x % lanes,
            row = part * rows + lane / 2;
  if (!items && lane == 0 && part == 0 && strip == 0) bring_ahead<forward>(S, k, item, strip_columns * S.strips);
  const auto columns = Strip<Real>::part(lane % 2, strip, S.strips), half = Strip<Real>::part(part, strip, S.strips);
  const bool active = lane / 2 < rows && row < item.rows();
  if constexpr (!items)
    sweep_slice<forward, general, Tuning>(S, columns, item, active ? row : 0, active);
  else if (item.kind() == Kind::slice)
    sweep_slice<forward, general, Tuning>(S, columns, item, active ? row : 0, active, item.rows());
  else if (item.kind() == Kind::block)
    sweep_block(S, half, item, lane);
  else
    sweep_row<forward, general>(S, half, item, lane);
}

}  // namespace seidel::symgs_detail::device
