// Lanczos steps on a level, between which a GPU is not waited for.
#pragma once
#include <optional>
#include <utility>

#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/smoothers/chebyshev.hpp>

namespace seidel {

/// Lanczos steps with A itself from `start`, which is used up: leaves LanczosNumbers::count(steps) numbers in `found`, memory of
/// the back end. Does not wait.
template <class Real, Backend B, LinearOperator<Vector<Real, B>> Matrix>
void take_lanczos_steps(const Matrix& A, Vector<Real, B>& start, int steps, Real* found) {
  using namespace blas1;
  const B& on = start.on();
  const std::int64_t n = start.size();
  Vector<Real, B>& r = start;
  const auto unset = [&] { return Vector<Real, B>(on, Array<Real, SpaceOf<B>>(on, n)); };
  Vector<Real, B> p = unset(), Ap = unset();
  const LanczosNumbers<Real> numbers{found};
  const auto dot_to = [&](const Vector<Real, B>& x, const Vector<Real, B>& y, Real* sum) {
    leave_sums(on, n, Dots<Real, 1>{{x.span().data()}, {y.span().data()}}, sum);
  };
  copy(r, p);
  dot_to(r, r, numbers.found);
  for (int step = 0; step < steps; ++step) {
    A.apply(p, Ap);
    dot_to(p, Ap, numbers.p_Ap(step));
    if (step + 1 == steps) break;
    leave_sums(on, n, LanczosResidual<Real>{numbers, step, std::as_const(Ap).span().data(), r.span().data()},
               numbers.r_r(step));
    for_each_element(on, n, LanczosDirection<Real>{numbers, step, r.span().data(), p.span().data()});
  }
}

/// What these numbers, on the host, say of the largest eigenvalue. Empty where a norm would need more than a sum of squares, as of
/// a residual that vanishes: estimate_largest_eigenvalue() knows how.
template <class Real>
std::optional<double> estimate_from(blas1::LanczosNumbers<Real> here, int steps) {
  LanczosMatrix T;
  Real beta = 0;
  for (int step = 0; step < steps && here.rz(step) > 0; ++step) {
    if (!T.add(here.rz(step) / *here.p_Ap(step), beta) || step + 1 == steps) break;
    if (!blas1::is_safe_square(*here.r_r(step))) return {};
    beta = here.rz(step + 1) / here.rz(step);
  }
  return T.largest();
}

}  // namespace seidel
