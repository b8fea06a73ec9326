// Lanczos steps on a level, between which a GPU is not waited for.
#pragma once
#include <optional>
#include <utility>

#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/smoothers/chebyshev.hpp>

namespace seidel {

/// estimate_largest_eigenvalue() of A itself, bit for bit, from the same `start`, which is used up. Empty where a norm would need
/// more than a sum of squares, as of a residual that vanishes: that function knows how.
///
/// Cost    as that function, but one wait on a GPU.
template <class Real, Backend B, LinearOperator<Vector<Real, B>> Matrix>
std::optional<double> estimate_with_one_wait(const Matrix& A, Vector<Real, B>& start, int steps) {
  using namespace blas1;
  const B& on = start.on();
  const std::int64_t n = start.size();
  Vector<Real, B>& r = start;
  const auto unset = [&] { return Vector<Real, B>(on, Array<Real, SpaceOf<B>>(on, n)); };
  Vector<Real, B> p = unset(), Ap = unset();
  Array<Real, SpaceOf<B>> memory(on, LanczosNumbers<Real>::count(steps));
  const auto numbers = LanczosNumbers<Real>::in(memory.data());
  const auto dot_to = [&](const Vector<Real, B>& x, const Vector<Real, B>& y, Real* sum) {
    leave_sums(on, n, Dots<Real, 1>{{x.span().data()}, {y.span().data()}}, sum);
  };
  copy(r, p);
  dot_to(r, r, numbers.found);
  for (int step = 0; step < steps; ++step) {
    A.apply(p, Ap);
    dot_to(p, Ap, numbers.p_Ap(step));
    if (step + 1 == steps) break;
    for_each_element(on, 1, LanczosLength<Real>{numbers, step});
    leave_sums(on, n, LanczosResidual<Real>{numbers.coefficients, std::as_const(Ap).span().data(), r.span().data()},
               numbers.r_r(step));
    for_each_element(on, 1, LanczosTurn<Real>{numbers, step});
    for_each_element(on, n, LanczosDirection<Real>{r.span().data(), numbers.coefficients + 1, p.span().data()});
  }
  auto memory_here = copied_to<Host>(on, std::as_const(memory).span());
  const auto here = LanczosNumbers<Real>::in(memory_here.data());
  LanczosMatrix T;
  Real beta = 0;
  for (int step = 0; step < steps && here.rz(step) > 0; ++step) {
    if (!T.add(here.rz(step) / *here.p_Ap(step), beta) || step + 1 == steps) break;
    if (!is_safe_square(*here.r_r(step))) return {};
    beta = here.rz(step + 1) / here.rz(step);
  }
  return T.largest();
}

}  // namespace seidel
