// Sweeps on a GPU: which kernels a sweep is.
#include <seidel/kernels/symgs/cuda/colour_sweep.cuh>
#include <seidel/kernels/symgs/cuda/sweeps.cuh>

namespace seidel::symgs_detail::device {

template <class Real>
Sweeps<Real>::Sweeps(const Cuda& on) : on(on), ticket(on, 1) {
  cudaFuncAttributes compiled;
  cuda_check(cudaFuncGetAttributes(&compiled, sweep_first_wavefront<Real, true, false>), "asking what a kernel is for");
  can_begin_early = compiled.ptxVersion >= 90;  // else it has no instruction to wait with
  cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&hung), sizeof(unsigned), cudaHostAllocDefault),
             "taking page-locked memory");
  *hung = 0;
  set_bytes(on, ticket.span(), 0);
}

template <class Real>
template <bool forward, bool general>
void Sweeps<Real>::run(const Sweep<Real>& S, bool ends) const {
  if (plan.wide) return sweep_wide<Single<Real>, forward, general>(on, plan, S, ends, can_begin_early);
  const auto go = [&](auto kernel, auto tuning) {
    launch(on, kernel, blocks_for(S.count, tuning.threads / lanes), tuning.threads, "a Gauss-Seidel sweep", S);
  };
  const int width = plan.half[forward ? 0 : 1].width;
  if (plan.dense && width <= 3)
    go(sweep_items<Real, forward, general, DenseUpTo3>, DenseUpTo3{});
  else if (plan.dense)
    go(sweep_items<Real, forward, general, Wide>, Wide{});
  else if (plan.node > 3 || (plan.node > 1 && width <= 13))
    go(sweep_slices<Real, forward, general, Nodes>, Nodes{});
  else if (plan.node > 1)
    go(sweep_slices<Real, forward, general, NodesUpTo3>, NodesUpTo3{});
  else if (width <= 3)
    go(sweep_slices<Real, forward, general, std::conditional_t<general, UpTo3General, UpTo3>>, UpTo3{});
  else if (width <= 13)
    go(sweep_slices<Real, forward, general, UpTo13>, UpTo13{});
  else
    go(sweep_slices<Real, forward, general, Wide>, Wide{});
}

template <class Real>
template <Part part>
void Sweeps<Real>::carry(const Sweep<Real>& S) const {
  const auto blocks = blocks_for(S.count, carry_threads / lanes);
  if (plan.wide && !plan.in_parts)
    return launch(on, sum_slices<Real, part>, blocks, carry_threads, "summing slices", S);
  const auto kernel = plan.in_parts ? sum_part<Real, SliceForm::in_parts>
                      : plan.dense  ? sum_part<Real, SliceForm::dense>
                                    : sum_part<Real, SliceForm::padded>;
  launch(on, kernel, blocks, carry_threads, "summing a triangle", S, part);
}

template <class Real>
void Sweeps<Real>::one(bool forward, const Real* b, Real* out, Real omega) {
  if (plan.nrows == 0) return;
  look_for_trouble();
  Real* const old = plan.as_it_stands ? out : flags(1);
  if (old != out) bring_in(out, old);
  Sweep<Real> S = sweep(forward ? 1 : 0, b);
  S.x = old;
  forward ? carry<Part::upper>(S) : carry<Part::minus_lower>(S);
  S = sweep(forward ? 0 : 1, b);
  S.x = plan.wide ? old : flags(0);
  S.old = omega == 1 ? nullptr : old;
  S.carried = S.t;
  if (!forward) S.row_of_place = nullptr;  // b is in t by now
  S.omega = omega;
  forward ? run<true, true>(S) : run<false, true>(S);
  if (S.x != out) deliver(S.x, out);
  if (!plan.wide) set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
}

template <class Real>
void Sweeps<Real>::pair(const Real* b, Real* out, Real omega, From from) {
  if (plan.nrows == 0) return;
  look_for_trouble();
  const bool relaxed = omega != 1, wide = plan.wide, guess = from == From::guess;
  // Sweeps that await each other's values write an array each, and leave the other's unset.
  Real* const after = plan.as_it_stands ? out : flags(1);
  Real* const between = wide ? after : flags(0);
  Sweep<Real> S = sweep(1, b);
  if (guess) {
    if (after != out) bring_in(out, after);
    S.x = after;
    carry<Part::upper>(S);
  }
  S = sweep(0, b);
  if (plan.as_it_stands) S.row_of_place = nullptr;  // b is in the sweep's order too
  S.x = between;
  S.unset = wide ? nullptr : after;
  S.omega = omega;
  S.old = guess && relaxed ? after : nullptr;
  S.carried = guess ? S.t : nullptr;
  guess || relaxed ? run<true, true>(S, !relaxed) : run<true, false>(S, !relaxed);

  S = sweep(1, b);
  S.row_of_place = nullptr;
  S.x = after;
  S.unset = wide ? nullptr : between;
  S.omega = omega;
  S.old = relaxed ? between : nullptr;
  relaxed ? run<false, true>(S) : run<false, false>(S, true);
  if (after != out) deliver(after, out);
}

/// In the sweep's order p is in flags(0), A p in flags(2), w in flags(1).
template <class Real>
void Sweeps<Real>::split_product(const Real* u, Real* p, Real* Ap, Real* w) {
  if (plan.nrows == 0) return;
  look_for_trouble();
  bring_in(u, flags(2));
  Sweep<Real> S = sweep(1, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  S.unset = plan.wide ? nullptr : flags(1);
  run<false, false>(S);
  deliver(flags(0), p);

  S = sweep(0, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  carry<Part::plus_lower>(S);
  deliver(flags(2), Ap);

  S.x = flags(1);
  S.unset = plan.wide ? nullptr : flags(0);
  run<true, false>(S);
  deliver(flags(1), w);
}

template struct Sweeps<double>;
template struct Sweeps<float>;

}  // namespace seidel::symgs_detail::device
