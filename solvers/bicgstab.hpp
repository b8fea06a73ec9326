// Stabilised bi-conjugate gradients.
#pragma once
#include <cmath>
#include <limits>
#include <utility>

#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// Vectors that bicgstab() takes beside x and b.
inline constexpr int bicgstab_vectors = iterate_vectors + 7;

/// Solves A x = b for any square A. Preconditioned from the right, so that its residual is that of A x = b.
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry; on return, whatever the status, the best approximation seen, within a factor 2 by
///         its residual.
/// Cost    per iteration two products with A, two with M^-1, and six passes over vectors; three waits on a GPU;
///         bicgstab_vectors vectors, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry. A
///         breakdown is a status.
/// Source  van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13(2), 1992; Saad (2003), section 7.4.2.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary bicgstab(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  const auto lost = [](Real product, Real norms) { return !(std::abs(product) > eps * eps * norms); };  // or NaN
  Iterate iterate("bicgstab", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  auto [r, shadow, p, v, t, y, z] = vectors_like<bicgstab_vectors - iterate_vectors>(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    copy(r, shadow);
    copy(r, p);
    auto [norm_shadow, rho] = sums(norm2_of(r), dot_of(shadow, r));
    while (iterate.running()) {
      M.apply(p, y);
      A.apply(y, v);
      const auto [shadow_v, norm_v] = sums(dot_of(shadow, v), norm2_of(v));
      if (progress.breaks_down(lost(shadow_v, norm_shadow * norm_v), Breakdown::zero_alpha_divisor)) break;
      const Real alpha = rho / shadow_v;
      axpy(-alpha, v, r);  // r is now the s of the book
      M.apply(r, z);
      A.apply(z, t);
      const auto [norm_s, ts, norm_t] = sums(norm2_of(r), dot_of(t, r), norm2_of(t));
      if (progress.small_enough(norm_s) ||
          lost(ts, norm_t * norm_s)) {        // half a step: nothing is left for the other half, or
        if (!progress.record(norm_s)) break;  // it would divide by zero
        iterate.move(alpha, y);
        progress.breaks_down(true, Breakdown::zero_omega);
        break;
      }
      const Real omega = ts / norm_t / norm_t;
      const auto [norm_r, new_rho] = axpy_norm2_dot(-omega, t, r, shadow);  // r = s - omega t
      if (!progress.record(norm_r)) break;
      iterate.move(alpha, y, omega, z);  // x += alpha y + omega z
      const Real rho_old = std::exchange(rho, new_rho);
      if (progress.breaks_down(lost(rho, norm_shadow * Real(progress.latest())), Breakdown::zero_rho)) break;
      axpy_xpby(-omega, v, r, (rho / rho_old) * (alpha / omega), p);  // p = r + beta (p - omega v)
    }
  }
  return iterate.summary();
}

}  // namespace seidel
