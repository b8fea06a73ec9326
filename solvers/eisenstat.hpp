// Conjugate gradients with symmetric Gauss-Seidel, in the form that reads A once an iteration.
#pragma once
#include <utility>

#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// What cg() does with M = (D + L) D^-1 (D + U), A = L + D + U, with the same iterates and residuals but for rounding.
/// Kept beside r is y = (D + L)^-1 r, and p is found from u = (D + U) p. Then M^-1 r = (D + U)^-1 D y needs no forward
/// solve, and A p = u + L p no product with A: the sweep that takes A p to (D + L)^-1 A p has L at hand.
///
/// Shapes, in/out, errors  as cg.
/// Cost    per iteration a backward and a forward sweep, two dots, a norm, four updates, a product with D; nine
///         vectors, all taken before the loop. A itself is read once a round.
/// Source  Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient methods, SIAM J. Sci.
///         Stat. Comput. 2(1), 1981.
template <class V, LinearOperator<V> Matrix, SplitPreconditioner<V> Precond>
Summary eisenstat_cg(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner();
  Iterate iterate("cg", A, b, x, criteria, 100);
  Progress& progress = iterate.progress();
  V r = like(b), y = like(b), Dy = like(b), u = like(b), p = like(b), Ap = like(b), w = like(b), s = like(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    M.solve_lower(r, y);         // y = (D + L)^-1 r
    fill(u, 0);
    Real rz = 1;
    while (progress.running()) {
      M.multiply_diagonal(y, Dy);
      const Real rz_old = std::exchange(rz, dot(y, Dy));
      if (!progress.positive(rz, y, Dy, "r'M^-1 r")) break;
      xpby(Dy, rz / rz_old, u);      // u = D y + beta u
      M.split_product(u, p, Ap, w);  // p = (D + U)^-1 u, w = (D + L)^-1 A p
      const Real pAp = dot(p, Ap);
      if (!progress.positive(pAp, p, Ap, "p'Ap")) {
        progress.met_curvature(pAp, norm2(p));
        break;
      }
      const Real alpha = rz / pAp;
      axpy(-alpha, Ap, r);  // r -= alpha A p
      if (!progress.record(norm2(r))) break;
      axpy(-alpha, w, y);
      iterate.move(alpha, p);  // x += alpha p
      iterate.smooth(r, s);
    }
  }
  return iterate.summary();
}

}  // namespace seidel
