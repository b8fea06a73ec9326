// Conjugate gradients with symmetric Gauss-Seidel, in the form that reads A once per iteration.
#pragma once
#include <utility>

#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// Vectors that eisenstat_cg() takes beside x and b.
inline constexpr int eisenstat_vectors = iterate_vectors + 8;

/// What cg() does with M = (D + L) D^-1 (D + U), A = L + D + U, with the same iterates and residuals but for rounding.
/// Kept beside r is y = (D + L)^-1 r, and p is found from u = (D + U) p. Then M^-1 r = (D + U)^-1 D y needs no forward
/// solve, and A p = u + L p no product with A: the sweep that takes A p to (D + L)^-1 A p has L at hand.
///
/// Shapes, in/out, errors  as cg.
/// Cost    per iteration a backward and a forward sweep, two waits on a GPU; eisenstat_vectors vectors, all taken before
///         the loop. A itself is read once per round.
/// Source  Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient methods, SIAM J. Sci.
///         Stat. Comput. 2(1), 1981.
template <class V, LinearOperator<V> Matrix, SplitPreconditioner<V> Precond>
Summary eisenstat_cg(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner("cg");
  Iterate iterate("cg", A, b, x, criteria, 100);
  Progress& progress = iterate.progress();
  const V& D = M.diagonal_of_A();
  auto [r, y, Dy, u, p, Ap, w, s] = vectors_like<eisenstat_vectors - iterate_vectors>(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    M.solve_lower(r, y);         // y = (D + L)^-1 r
    multiply(D, y, Dy);
    fill(u, 0);
    Real rz = dot(y, Dy), beta = 0;
    while (iterate.running()) {
      if (!progress.positive(rz, y, Dy, Breakdown::indefinite_preconditioner)) break;
      xpby(Dy, beta, u);             // u = D y + beta u
      M.split_product(u, p, Ap, w);  // p = (D + U)^-1 u, w = (D + L)^-1 A p
      const Real pAp = dot(p, Ap);
      if (!progress.positive(pAp, p, Ap, Breakdown::indefinite_matrix)) break;
      const Real alpha = rz / pAp;
      const auto [norm_r, new_rz] = axpys_multiply_norm2_dot(-alpha, Ap, r, w, y, D, Dy);  // r -= alpha A p, and y
      if (!progress.record(norm_r)) break;
      iterate.move(alpha, p);  // x += alpha p
      iterate.smooth(r, s);
      beta = new_rz / std::exchange(rz, new_rz);
    }
  }
  return iterate.summary();
}

}  // namespace seidel
