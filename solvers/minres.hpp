// Preconditioned minimal residuals for symmetric systems.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <seidel/solvers/iterate.hpp>
#include <seidel/solvers/right_triangle.hpp>

namespace seidel {

namespace minres_detail {
/// ||r|| of r = u - w, from ||u||, ||w|| and u'w; from r itself where these cancel.
template <class V, class Real = typename V::Real>
Real norm_of_difference(Real norm_u, Real norm_w, Real uw, const V& r) {
  const Real largest = std::max(std::abs(norm_u), std::abs(norm_w)), u = norm_u / largest, w = norm_w / largest;
  const Real square = u * u + w * w - 2 * (uw / largest / largest);
  return square > Real(1e-4) && square < 5 ? largest * std::sqrt(square) : norm2(r);
}
}  // namespace minres_detail

/// Vectors that minres() takes beside x and b.
inline constexpr int minres_vectors = iterate_vectors + 7;

/// Solves A x = b for symmetric A, definite or not, with symmetric positive definite M; the residual never grows in the
/// norm of M^-1.
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry; on return, whatever the status, the best approximation seen, within a factor 2 by
///         its residual in the 2-norm. Where A is singular and b not in its range, the residual is about as small as it
///         can be, and the status is a breakdown (exhausted).
/// Cost    per iteration one product with A, one with M^-1, and seven passes over vectors; two waits on a GPU;
///         minres_vectors vectors, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry;
///         UsageError for M that is not symmetric or not linear. M that is not positive definite is a status.
/// Source  Paige, Saunders, Solution of sparse indefinite systems of linear equations, SIAM J. Numer. Anal. 12(4), 1975.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary minres(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  const Real root_eps = std::sqrt(std::numeric_limits<Real>::epsilon());  // rounding leaves about so much of 0
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner("minres");
  if (!is_linear(M)) refuse_nonlinear_preconditioner("minres");
  Iterate iterate("minres", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  auto [r, v, v_old, q, z, d, d_old] = vectors_like<minres_vectors - iterate_vectors>(b);
  Real norm_T = 0;
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    copy(r, v);
    M.apply(v, z);
    Real vz = dot(v, z);
    if (!progress.positive(vz, v, z, Breakdown::indefinite_preconditioner)) continue;
    for (V* zero : {&v_old, &d, &d_old}) fill(*zero, 0);
    Real beta_old = 1, c = -1, s = 0, delta_bar = 0, epsilon = 0;  // T = tridiag(beta, alpha, beta), rotated
    Real phi_bar = std::sqrt(vz), of_d = 1, of_d_old = 1;
    while (iterate.running()) {
      const Real beta = std::sqrt(vz);  // v / beta and z / beta are of length 1
      A.apply(z, q);
      axpby(-beta / beta_old, v_old, 1 / beta, q);
      const auto [zq, norm_r] = sums(dot_of(z, q), norm2_of(r));
      const Real alpha = zq / beta;
      axpy(-alpha / beta, v, q);  // q = A z / beta - alpha v / beta - beta v_old / beta_old: the next v
      const Real delta = std::fma(c, delta_bar, s * alpha), gamma_bar = std::fma(s, delta_bar, -c * alpha);
      axpby(-beta * delta / of_d, d, -beta * epsilon / of_d_old, d_old);
      axpy(1, z, d_old);  // d = z - (...) d - (...) d_old
      std::swap(d, d_old);
      M.apply(q, z);
      const auto [qz, norm_q, rq] = sums(dot_of(q, z), norm2_of(q), dot_of(r, q));
      if (norm_q != 0 && !progress.positive(qz, q, z, Breakdown::indefinite_preconditioner)) break;
      const Real beta_next = std::sqrt(qz);
      norm_T = std::max({norm_T, std::abs(alpha), beta_next});
      delta_bar = -c * beta_next;
      epsilon = s * beta_next;
      const Real left = hypotenuse(gamma_bar, delta_bar);  // ||A M^-1 r|| / ||r||, in the norm of M^-1
      if (progress.breaks_down(left <= root_eps * norm_T, Breakdown::exhausted)) break;
      const Real gamma = hypotenuse(gamma_bar, beta_next);
      c = gamma_bar / gamma;
      s = beta_next / gamma;
      const Real phi = c * phi_bar;
      phi_bar *= s;
      const Real kept = s * s, taken = phi / gamma;
      axpby(-taken, q, kept, r);  // r of the next x
      if (!progress.record(minres_detail::norm_of_difference(kept * norm_r, taken * norm_q, kept * taken * rq, r)))
        break;
      of_d_old = std::exchange(of_d, beta * gamma);
      iterate.move(phi / of_d, d);
      if (progress.breaks_down(norm_q == 0, Breakdown::exhausted)) break;  // all directions are found
      std::swap(v_old, v);
      std::swap(v, q);
      beta_old = beta;
      vz = qz;
    }
  }
  return iterate.summary();
}

}  // namespace seidel
