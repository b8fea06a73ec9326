// NaturalSweep: several right-hand sides, eight at a time.
#include <seidel/kernels/symgs/cuda_natural_state.cuh>
#include <seidel/kernels/symgs/cuda_natural_wide.cuh>

namespace seidel::symgs_detail {

template <class Real>
template <bool forward, bool general>
void NaturalSweep<Real>::State::run_strip(const Sweep<Real>& S, bool ends) const {
  if (plan.wide) return sweep_wide<Strip<Real>, forward, general>(on, plan, S, ends, can_begin_early);
  const auto go = [&](auto kernel) {
    launch(on, kernel, blocks_for(S.count, 2), 2 * lanes * strip_warps(plan.node), "Gauss-Seidel sweeps", S);
  };
  if (plan.mixed || plan.has_long)
    go(sweep_strip<Real, forward, general, 0, 7, 7, false, true, 192, 1>);
  else if (plan.node > 1)
    go(sweep_strip<Real, forward, general, largest_node - 1, 7, 7, false, false, 192, 1>);
  else if (plan.half[forward ? 0 : 1].width <= 3)
    go(sweep_strip<Real, forward, general, 0, 3, 3, true, false, 128, 6>);
  else
    go(sweep_strip<Real, forward, general, 0, 7, 7, false, false, 128, 1>);
}

template <class Real>
void NaturalSweep<Real>::State::strip_from_zero(const MultiVectorView<const Real, Device>& R,
                                                const MultiVectorView<Real, Device>& X, std::int64_t first,
                                                Real omega) const {
  const bool relaxed = omega != 1, wide = plan.wide;
  const std::int64_t size = std::int64_t(plan.places) * strip_columns;
  Real *const y = strip_vectors.data(), *const x = y + size, *const t = x + size, *sums = t + size;
  Real* const between = wide ? x : y;
  Sweep<Real> S = sweep(0, R.data + R.at(0, first));
  if (plan.as_it_stands) S.row_of_place = nullptr;
  S.b_row = R.at(1, 0), S.b_column = R.at(0, 1);
  S.b_columns = int(std::min<std::int64_t>(strip_columns, R.ncols - first));
  S.t = t, S.right = t, S.sums = sums;
  S.x = between;
  S.unset = wide ? nullptr : x;
  S.omega = omega;
  relaxed ? run_strip<true, true>(S, false) : run_strip<true, false>(S, true);

  S = sweep(1, nullptr);
  S.row_of_place = nullptr;
  S.right = t, S.sums = sums + plan.half[0].sums.size() * strip_columns;
  S.x = x;
  S.unset = wide ? nullptr : y;
  S.omega = omega;
  S.old = relaxed ? between : nullptr;
  relaxed ? run_strip<false, true>(S, false) : run_strip<false, false>(S, true);
  launch(on, hand_over_strip<Real>, blocks_for(2 * std::int64_t(plan.nrows), hand_over_threads), hand_over_threads,
         "giving columns back", x, place_of_row.data(), plan.nrows, X.data + X.at(0, first), X.at(1, 0), X.at(0, 1),
         int(X.ncols - first));
}

template <class Real>
std::int64_t NaturalSweep<Real>::State::strips_from_zero(const MultiVectorView<const Real, Device>& R,
                                                         const MultiVectorView<Real, Device>& X, Real omega) const {
  std::int64_t done = 0;
  if (plan.nrows == 0 || X.ncols <= few_columns) return done;
  look_for_trouble();
  if (strip_vectors.empty()) {
    strip_vectors = Array<Real, Device>(
        strip_columns * (3 * std::int64_t(plan.places) + plan.half[0].sums.size() + plan.half[1].sums.size()));
    set_bytes(on, strip_vectors.span(), 0xff);
  }
  for (; X.ncols - done > few_columns; done += strip_columns) strip_from_zero(R, X, done, omega);
  return std::min(done, X.ncols);
}

template std::int64_t NaturalSweep<double>::State::strips_from_zero(const MultiVectorView<const double, Device>&,
                                                                    const MultiVectorView<double, Device>&,
                                                                    double) const;
template std::int64_t NaturalSweep<float>::State::strips_from_zero(const MultiVectorView<const float, Device>&,
                                                                   const MultiVectorView<float, Device>&, float) const;

}  // namespace seidel::symgs_detail
