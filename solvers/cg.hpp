// Preconditioned conjugate gradients.
#pragma once
#include <utility>

#include <seidel/solvers/cg_iterate.hpp>

namespace seidel {

/// Vectors that cg() takes beside x and b.
inline constexpr int cg_vectors = iterate_vectors + 5;

/// Solves A x = b for symmetric positive definite A, M symmetric positive definite too. An M that is not linear
/// (concepts.hpp) makes it flexible: beta = (r - r_before)'z / (r_before'z_before), for r'z / (r_before'z_before).
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry, an approximation on return whatever the status: the last one, whose error is the
///         least in the norm of A, unless its residual is 100 times an earlier one's; after a failure (indefinite,
///         breakdown) the best one seen, within a factor 2 by its residual; where iterates were within 5/4 of what is
///         asked for, their combination with the least residual (Iterate::smooth).
/// Cost    per iteration one product with A, one with M^-1, and for a diagonal M two passes over vectors, of 40 bytes per row,
///         and a third for p'Ap unless A has apply_dot(). On a GPU one wait with a diagonal M, during which the next product
///         is computed (cg_iterate.hpp), else two, but for the last iterations before the goal, where a third one can save an
///         application of M^-1; cg_vectors vectors, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry;
///         UsageError for M that is not symmetric. A that is not positive definite is a status.
/// Source  Saad (2003), algorithm 9.1; for the flexible form Notay, Flexible conjugate gradients, SIAM J. Sci. Comput. 22(4),
///         2000.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary cg(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner("cg");
  CgIterate iterate(A, M, b, x, criteria);
  Progress& progress = iterate.progress();
  auto [r, z, p, Ap, s] = vectors_like<cg_vectors - iterate_vectors>(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    M.apply(r, z);
    fill(p, 0);
    Real rz = dot(r, z), beta = 0;
    while (iterate.running()) {
      if (!progress.positive(rz, r, z, Breakdown::indefinite_preconditioner)) break;
      iterate.turn(z, beta, p);  // p = z + beta p
      // alpha = r'z / p'Ap, r -= alpha A p, z = M^-1 r
      const auto [pAp, norm_r, new_rz, change] = iterate.step(rz, p, Ap, r, z);
      if (!progress.positive(pAp, p, Ap, Breakdown::indefinite_matrix)) break;
      if (!progress.record(norm_r)) break;
      iterate.move_later(rz / pAp, p);  // x += alpha p
      iterate.smooth(r, s);
      beta = change / std::exchange(rz, new_rz);
    }
  }
  return iterate.summary();
}

}  // namespace seidel
