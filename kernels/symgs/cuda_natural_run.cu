// NaturalSweep: which kernels a sweep is.
#include <seidel/kernels/symgs/cuda_natural_state.cuh>
#include <seidel/kernels/symgs/cuda_natural_wide.cuh>

namespace seidel::symgs_detail {

template <class Real>
NaturalSweep<Real>::State::State(const Cuda& on, NaturalOptions options) : on(on), options(options) {
  cudaFuncAttributes compiled;
  cuda_check(cudaFuncGetAttributes(&compiled, sweep_first_wavefront<Real, true, false>), "asking what a kernel is for");
  can_begin_early = compiled.ptxVersion >= 90;  // else it has no instruction to wait with
  cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&hung), sizeof(unsigned), cudaHostAllocDefault),
             "taking page-locked memory");
  *hung = 0;
}

template <class Real>
template <bool forward, bool general>
void NaturalSweep<Real>::State::run(const Sweep<Real>& S) const {
  const auto go = [&](auto kernel, int threads) {
    launch(on, kernel, blocks_for(S.count, threads / lanes), threads, "a Gauss-Seidel sweep", S);
  };
  const int width = plan.half[forward ? 0 : 1].width;
  if (plan.mixed || plan.has_long)
    go(sweep_items<Real, forward, general, 7, 7, 128>, 128);
  else if (plan.node > 3 || (plan.node > 1 && width <= 13))
    go(sweep_slices<Real, forward, general, largest_node - 1, 13, 7, false, 128, 1>, 128);
  else if (plan.node > 1)
    go(sweep_slices<Real, forward, general, 2, 39, 8, false, 64, 1>, 64);
  else if (width <= 3)
    go(sweep_slices < Real, forward, general, 0, 3, 3, true, 512, general ? 3 : 4 >, 512);
  else if (width <= 7)
    go(sweep_slices<Real, forward, general, 0, 7, 7, true, 128, 1>, 128);
  else if (width <= 13)
    go(sweep_slices<Real, forward, general, 0, 13, 7, true, 256, 1>, 256);
  else
    go(sweep_slices<Real, forward, general, 0, 41, 8, false, 64, 1>, 64);
}

template <class Real>
template <bool forward, bool general>
void NaturalSweep<Real>::State::run_wide(const Sweep<Real>& S, bool ends) const {
  sweep_wide<Single<Real>, forward, general>(on, plan, S, ends, can_begin_early);
}

template <class Real>
template <bool lower>
void NaturalSweep<Real>::State::carry(const Real* b, const Real* old) const {
  Sweep<Real> S = sweep(lower ? 0 : 1, b);
  S.x = const_cast<Real*>(old);
  const auto kernel = plan.in_parts ? sum_part<Real, lower, true> : sum_part<Real, lower, false>;
  launch(on, kernel, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle", S);
}

template <class Real>
void NaturalSweep<Real>::State::one(bool forward, const Real* b, Real* out, Real omega) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  const bool wide = plan.wide;
  Real* const old = plan.as_it_stands ? out : flags(1);
  if (old != out) bring_in(out);
  forward ? carry<false>(b, old) : carry<true>(b, old);
  Sweep<Real> S = sweep(forward ? 0 : 1, b);
  S.x = wide ? old : flags(0);
  S.old = omega == 1 ? nullptr : old;
  S.carried = S.t;
  if (!forward) S.row_of_place = nullptr;  // b is in t by now
  S.omega = omega;
  if (wide)
    forward ? run_wide<true, true>(S, false) : run_wide<false, true>(S, false);
  else
    forward ? run<true, true>(S) : run<false, true>(S);
  if (S.x != out) deliver(S.x, out);
  if (!wide) set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
}

template <class Real>
void NaturalSweep<Real>::State::pairs(const Real* b, Real* out, Real omega, int count, bool from_zero,
                                      bool in_order) const {
  if (plan.nrows == 0 || count < 1) return;
  look_for_trouble();
  const bool relaxed = omega != 1, wide = plan.wide;
  // Sweeps that await each other's values write an array each, and leave the other's unset.
  const bool in_place = wide && (plan.as_it_stands || in_order);
  Real* const after = in_place ? out : flags(1);
  Real* const between = wide ? after : flags(0);
  if (!from_zero) {
    if (after != out) bring_in(out);
    carry<false>(b, after);
  }
  for (int k = 0; k < count; ++k) {
    const bool guess = !from_zero || k > 0, last = k + 1 == count, ends = last && !relaxed;
    Sweep<Real> S = sweep(0, b);
    if (in_order || plan.as_it_stands) S.row_of_place = nullptr;  // b is in the sweep's order too
    S.x = between;
    S.unset = wide ? nullptr : after;
    S.omega = omega;
    S.old = guess && relaxed ? after : nullptr;
    S.carried = guess ? S.t : nullptr;
    if (wide)
      guess || relaxed ? run_wide<true, true>(S, ends) : run_wide<true, false>(S, ends);
    else
      guess || relaxed ? run<true, true>(S) : run<true, false>(S);

    S = sweep(1, b);
    S.row_of_place = nullptr;
    S.x = after;
    S.unset = wide ? nullptr : between;
    S.omega = omega;
    S.old = relaxed ? between : nullptr;
    S.out = last && in_order && !wide ? out : nullptr;
    S.leaves_upper = !last;
    if (wide)
      relaxed || !last ? run_wide<false, true>(S, ends) : run_wide<false, false>(S, ends);
    else
      relaxed || !last ? run<false, true>(S) : run<false, false>(S);
  }
  if (!in_order && after != out) deliver(after, out);
}

/// In the sweep's order p is in flags(0), A p in flags(2), w in flags(1).
template <class Real>
void NaturalSweep<Real>::State::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  launch_over(on, plan.places, gather<Real>, "gathering u", u, vector_rows(), plan.places, flags(2));
  Sweep<Real> S = sweep(1, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  S.unset = plan.wide ? nullptr : flags(1);
  plan.wide ? run_wide<false, false>(S, false) : run<false, false>(S);
  deliver(S.x, p);

  S = sweep(0, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  const auto multiply = plan.in_parts ? sum_part<Real, true, true, +1> : sum_part<Real, true, false, +1>;
  launch(on, multiply, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle", S);
  deliver(S.t, Ap);

  S.x = flags(1);
  S.unset = plan.wide ? nullptr : flags(0);
  plan.wide ? run_wide<true, false>(S, false) : run<true, false>(S);
  deliver(S.x, w);
}

template struct NaturalSweep<double>::State;
template struct NaturalSweep<float>::State;

}  // namespace seidel::symgs_detail
