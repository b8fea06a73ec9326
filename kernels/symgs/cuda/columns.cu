// Sweeps on a GPU: several right-hand sides, in strips of eight.
#include <seidel/kernels/symgs/cuda/colour_sweep.cuh>
#include <seidel/kernels/symgs/cuda/sweeps.cuh>

namespace seidel::symgs_detail::device {

constexpr std::int64_t few_columns = 2;  // that are left to single sweeps

template <class Real>
template <bool forward, bool general>
void Sweeps<Real>::run_strips(const Sweep<Real>& S, bool ends) const {
  if (plan.wide) return sweep_wide<Strip<Real>, forward, general>(on, plan, S, ends, can_begin_early);
  const auto go = [&](auto kernel, auto tuning) {
    const int warps = strip_warps(plan.node), slices = tuning.threads / (lanes * warps);  // of a block
    launch(on, kernel, blocks_for(std::int64_t(S.count) * S.strips, slices), slices * lanes * warps,
           "Gauss-Seidel sweeps", S);
  };
  const int width = plan.half[forward ? 0 : 1].width;
  if (plan.dense)
    go(sweep_strips<Real, forward, general, StripsWide, true>, StripsWide{});
  else if (plan.node > 3)
    go(sweep_strips<Real, forward, general, StripsOfNodes, false>, StripsOfNodes{});
  else if (plan.node > 1)
    go(sweep_strips<Real, forward, general, StripsOfNodesUpTo3, false>, StripsOfNodesUpTo3{});
  else if (width <= 3)
    go(sweep_strips<Real, forward, general, StripsUpTo3, false>, StripsUpTo3{});
  else if (width <= 13)
    go(sweep_strips<Real, forward, general, StripsUpTo13, false>, StripsUpTo13{});
  else
    go(sweep_strips<Real, forward, general, StripsWide, false>, StripsWide{});
}

template <class Real>
void Sweeps<Real>::strips_from_zero(const ManyConst& R, const Many& X, std::int64_t first, int strips, Real omega) {
  const bool relaxed = omega != 1, wide = plan.wide;
  const std::int64_t room = room_for_strips * strip_columns;
  Real *const y = strip_vectors.data(), *const x = y + room * plan.places, *const t = x + room * plan.places,
              *const sums = t + room * plan.places;
  const std::int64_t entries = strips * strip_columns;
  Real* const between = wide ? x : y;
  Sweep<Real> S = sweep(0, R.data + R.at(0, first));
  if (plan.as_it_stands) S.row_of_place = nullptr;
  S.strips = strips;
  S.b_columns = int(std::min(entries, R.ncols - first));
  S.b_row = R.at(1, 0), S.b_column = R.at(0, 1);
  S.t = t, S.right = t, S.sums = sums;
  S.x = between;
  S.unset = wide ? nullptr : x;
  S.omega = omega;
  relaxed ? run_strips<true, true>(S, false) : run_strips<true, false>(S, true);

  S = sweep(1, nullptr);
  S.row_of_place = nullptr;
  S.strips = strips;
  S.right = t, S.sums = sums + room * plan.half[0].sums.size();
  S.x = x;
  S.unset = wide ? nullptr : y;
  S.omega = omega;
  S.old = relaxed ? between : nullptr;
  relaxed ? run_strips<false, true>(S, false) : run_strips<false, false>(S, true);
  launch(on, hand_over_strips<Real>, blocks_for(2 * strips * std::int64_t(plan.nrows), hand_over_threads),
         hand_over_threads, "giving columns back", x, place_of_row.data(), plan.nrows, X.data + X.at(0, first),
         X.at(1, 0), X.at(0, 1), strips, int(std::min(entries, X.ncols - first)));
}

template <class Real>
std::int64_t Sweeps<Real>::columns_from_zero(const ManyConst& R, const Many& X, Real omega) {
  if (plan.nrows == 0 || X.ncols <= few_columns) return 0;
  look_for_trouble();
  const auto strips_of = [](std::int64_t columns) {
    return int(std::min<std::int64_t>(max_strips, (columns - few_columns + strip_columns - 1) / strip_columns));
  };
  if (const int strips = strips_of(X.ncols); strips > room_for_strips) {
    strip_vectors = {}, room_for_strips = 0;
    strip_vectors = Array<Real, Device>(
        on,
        strips * strip_columns * (3 * std::int64_t(plan.places) + plan.half[0].sums.size() + plan.half[1].sums.size()));
    room_for_strips = strips;
    set_bytes(on, strip_vectors.span(), 0xff);
  }
  std::int64_t done = 0;
  while (X.ncols - done > few_columns) {
    const int strips = strips_of(X.ncols - done);
    strips_from_zero(R, X, done, strips, omega);
    done += strips * strip_columns;
  }
  return std::min(done, X.ncols);
}

template std::int64_t Sweeps<double>::columns_from_zero(const ManyConst&, const Many&, double);
template std::int64_t Sweeps<float>::columns_from_zero(const ManyConst&, const Many&, float);

}  // namespace seidel::symgs_detail::device
