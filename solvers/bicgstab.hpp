// Stabilised bi-conjugate gradients.
#pragma once
#include <cmath>
#include <limits>
#include <utility>

#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// Solves A x = b for any square A. Preconditioned from the right, so that its residual is that of A x = b.
///
/// Shapes  A is n x n; b and x have n entries.
/// In/out  x holds the guess on entry; on return, whatever the status, the best approximation seen, within a factor 2 by
///         its residual.
/// Cost    per iteration two products with A, two with M^-1, four dots, two norms, six updates; nine vectors, all taken
///         before the loop.
/// Errors  ShapeError; InputError for NaN or infinity in b or x, naming the entry. A breakdown is a status.
/// Source  van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13(2), 1992; Saad (2003), section 7.4.2.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary bicgstab(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  const auto lost = [](Real product, Real norms) { return !(std::abs(product) > eps * eps * norms); };  // or NaN
  Iterate iterate("bicgstab", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  V r = like(b), shadow = like(b), p = like(b), v = like(b), t = like(b), y = like(b), z = like(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    copy(r, shadow);
    copy(r, p);
    Real rho = dot(shadow, r);
    const Real norm_shadow = norm2(r);
    while (progress.running()) {
      M.apply(p, y);
      A.apply(y, v);
      const Real shadow_v = dot(shadow, v);
      if (lost(shadow_v, norm_shadow * norm2(v))) {
        progress.break_down("A p is orthogonal to the shadow residual");
        break;
      }
      const Real alpha = rho / shadow_v;
      axpy(-alpha, v, r);  // r is now the s of the book
      const Real norm_s = norm2(r);
      M.apply(r, z);
      A.apply(z, t);
      const Real ts = dot(t, r), norm_t = norm2(t);
      if (progress.small_enough(norm_s) ||
          lost(ts, norm_t * norm_s)) {        // half a step: nothing is left for the other half, or
        if (!progress.record(norm_s)) break;  // it would divide by zero
        iterate.move(alpha, y);
        progress.break_down("A r is orthogonal to r");
        break;
      }
      const Real omega = ts / norm_t / norm_t;
      axpy(-omega, t, r);  // r = s - omega t
      if (!progress.record(norm2(r))) break;
      iterate.move(alpha, y, omega, z);  // x += alpha y + omega z
      const Real rho_old = std::exchange(rho, dot(shadow, r));
      if (lost(rho, norm_shadow * Real(progress.latest()))) {
        progress.break_down("the residual is orthogonal to its shadow");
        break;
      }
      axpy(-omega, v, p);
      xpby(r, (rho / rho_old) * (alpha / omega), p);  // p = r + beta (p - omega v)
    }
  }
  return iterate.summary();
}

}  // namespace seidel
