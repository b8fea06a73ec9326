// The largest eigenvalue of A or of D^-1 A, estimated by Lanczos steps, with two waits per step for a GPU or with one for all.
#pragma once
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// The largest eigenvalue of the symmetric tridiagonal matrix with these entries, by bisection.
double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside);

/// The tridiagonal matrix of Lanczos steps, from the coefficients of cg.
/// Source  Saad (2003), section 6.7.3.
class LanczosMatrix {
 public:
  /// Takes the length of a step, and the turn that led to it. False, and it is not taken, where it is of no use.
  bool add(double alpha, double beta) {
    if (!(alpha > 0 && std::isfinite(alpha))) return false;
    if (!diagonal_.empty()) beside_.push_back(std::sqrt(beta) / alpha_before_);
    diagonal_.push_back(1 / alpha + beta / alpha_before_);
    alpha_before_ = alpha;
    return true;
  }
  int steps() const { return int(diagonal_.size()); }
  double largest() const { return diagonal_.empty() ? 0 : largest_eigenvalue(diagonal_, beside_); }

 private:
  std::vector<double> diagonal_, beside_;
  double alpha_before_ = 1;
};

/// Estimates the largest eigenvalue of D^-1 A from below by Lanczos steps, which cg with D as preconditioner takes: for A
/// symmetric positive definite, D its diagonal; `inverse_diagonal` may be null for D = I. `start` is where they start: not
/// near an eigenvector of small eigenvalues.
///
/// Cost    per step one product with A, three passes over vectors, two waits on a GPU; four vectors for the time of the call,
///         three for D = I.
template <class V, LinearOperator<V> Matrix>
double estimate_largest_eigenvalue(const Matrix& A, const V* inverse_diagonal, const V& start, int steps = 10) {
  using Real = typename V::Real;
  V r = like(start), p = like(start), Ap = like(start), scaled_r(start.on(), inverse_diagonal ? start.size() : 0);
  V& z = inverse_diagonal ? scaled_r : r;
  copy(start, r);
  if (inverse_diagonal) multiply(*inverse_diagonal, r, z);
  copy(z, p);
  Real rz = dot(r, z), beta = 0;
  LanczosMatrix T;
  while (T.steps() < steps && rz > 0) {
    A.apply(p, Ap);
    const Real alpha = rz / dot(p, Ap);
    if (!T.add(alpha, beta) || T.steps() == steps) break;
    Real new_rz;
    if (inverse_diagonal) {
      new_rz = axpy_multiply_norm2_dot(-alpha, Ap, r, *inverse_diagonal, z)[1];
    } else {
      const Real norm_r = axpy_norm2_dot(-alpha, Ap, r, p)[0];
      new_rz = norm_r * norm_r;
    }
    beta = new_rz / rz;
    rz = new_rz;
    xpby(z, beta, p);
  }
  return T.largest();
}

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
