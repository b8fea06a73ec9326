// Restarted generalised minimal residuals.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include <seidel/solvers/iterate.hpp>
#include <seidel/solvers/least_squares.hpp>

namespace seidel {

struct GmresOptions {
  int restart = 50;  // directions that are kept; more converge in fewer iterations, each costs a vector
};

/// Directions a cycle needs: no more than there are unknowns or iterations. Errors  UsageError for restart < 1.
std::size_t columns_per_cycle(int restart, std::int64_t n, std::int64_t max_iterations);

/// Solves A x = b for any square A. Preconditioned from the right, so that its residual is that of A x = b; it never
/// grows.
///
/// Shapes  A is n x n; b and x have n entries.
/// In/out  x holds the guess on entry, the best approximation on return, whatever the status.
/// Cost    iteration k of a cycle: one product with A, one with M^-1, k dots, k + 1 updates, a norm. Vectors: restart +
///         4, all taken before the loop.
/// Errors  ShapeError; InputError for NaN or infinity in b or x, naming the entry; UsageError for restart < 1.
/// Source  Saad (2003), algorithm 9.5, orthogonalised by modified Gram-Schmidt.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary gmres(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {},
              GmresOptions options = {}) {
  using Real = typename V::Real;
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  Iterate iterate("gmres", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  HessenbergLeastSquares<Real> H(columns_per_cycle(options.restart, b.size(), criteria.max_iterations));
  progress.restarts_after(int(H.max_columns()));
  std::vector<V> v;  // orthonormal; M^-1 v_0, M^-1 v_1, ... are the directions
  for (std::size_t i = 0; i <= H.max_columns(); ++i) v.push_back(like(b));
  V r = like(b), z = like(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    const Real beta = norm2(r);
    axpby(1 / beta, r, 0, v[0]);
    H.start(beta);
    while (progress.running() && !H.full()) {
      Real* h = H.next();
      const std::size_t k = H.columns();
      V& w = v[k + 1];
      M.apply(v[k], z);
      A.apply(z, w);  // w = A M^-1 v_k, made orthogonal to all v:
      const Real norm_w = norm2(w);
      for (std::size_t i = 0; i <= k; ++i) {
        h[i] = dot(v[i], w);
        axpy(-h[i], v[i], w);
      }
      h[k + 1] = norm2(w);
      const bool exhausted = h[k + 1] <= 10 * eps * norm_w;  // nothing but rounding is left of w
      if (exhausted) h[k + 1] = 0;
      if (!progress.record(H.add())) {
        H.drop();
        break;
      }
      if (exhausted) {
        progress.break_down("the space of directions is exhausted without a solution (is A singular?)");
        break;
      }
      axpby(1 / h[k + 1], w, 0, w);
    }
    const auto& y = H.solve();
    fill(r, 0);
    for (std::size_t i = 0; i < H.columns(); ++i) axpy(y[i], v[i], r);
    M.apply(r, z);
    iterate.move(Real(1), z);  // x += M^-1 V y
  }
  return iterate.summary();
}

}  // namespace seidel
