// Restarted generalised minimal residuals.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/iterate.hpp>
#include <seidel/solvers/least_squares.hpp>

namespace seidel {

struct GmresOptions {
  int restart = 50;  // directions that are kept; more converge in fewer iterations, each costs a vector
};

/// Vectors that gmres() takes beside x, b and the directions, of which there is one more than restart. The flexible form takes
/// restart - 1 more.
inline constexpr int gmres_vectors = iterate_vectors + 2;

/// Directions a cycle needs: no more than there are unknowns or iterations. Errors  UsageError for restart < 1.
std::size_t columns_per_cycle(int restart, std::int64_t n, std::int64_t max_iterations);

/// Solves A x = b for any square A. Preconditioned from the right, so that its residual is that of A x = b; it never
/// grows. An M that is not linear (concepts.hpp) makes it flexible: all M^-1 v_k are kept.
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry, the best approximation on return, whatever the status.
/// Cost    per iteration one product with A, one with M^-1, and four passes over the directions so far; two waits on a GPU;
///         gmres_vectors vectors beside restart + 1 for the directions, all taken before the loop. The flexible form takes
///         restart - 1 vectors more, and saves one application of M^-1 in each round.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry;
///         UsageError for restart < 1.
/// Source  Saad (2003), algorithm 9.5; orthogonalised by classical Gram-Schmidt, twice: Giraud, Langou, Rozloznik, van den
///         Eshof, Rounding error analysis of the classical Gram-Schmidt orthogonalization process, Numer. Math. 101, 2005.
///         For the flexible form Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14(2), 1993.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary gmres(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {},
              GmresOptions options = {}) {
  using Real = typename V::Real;
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  Iterate iterate("gmres", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  HessenbergLeastSquares<Real> H(columns_per_cycle(options.restart, global_size(b), criteria.max_iterations));
  progress.restarts_after(int(H.max_columns()));
  const bool flexible = !is_linear(M);
  auto v = block_like(b, H.max_columns() + 1);             // orthonormal; M^-1 v_0, M^-1 v_1, ... are the directions
  auto z = block_like(b, flexible ? H.max_columns() : 1);  // those directions, or the latest one
  auto r = like(b);
  std::vector<Real> c(H.max_columns() + 1), taken(H.max_columns());
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    const Real beta = Real(progress.latest());
    axpby(1 / beta, r, 0, v[0]);
    H.start(beta);
    std::fill(taken.begin(), taken.end(), Real(0));
    do {
      while (progress.running() && !H.full()) {
        Real* h = H.next();
        const std::size_t k = H.columns();
        V& w = v[k + 1];
        V& z_k = z[flexible ? k : 0];
        M.apply(v[k], z_k);
        A.apply(z_k, w);                                   // w = A M^-1 v_k, made orthogonal to all v:
        const Real norm_w = project(v, k + 1, w, h);       // h = V'w
        subtract_combination(v, k + 1, h, 1, w);           // w -= V h
        const Real norm = project(v, k + 1, w, c.data());  // c = V'w: what rounding left
        for (std::size_t i = 0; i <= k; ++i) h[i] += c[i];
        h[k + 1] = leg(norm, c.data(), k + 1);                 // ||w - V c||
        const bool exhausted = h[k + 1] <= 10 * eps * norm_w;  // nothing but rounding is left of w
        if (exhausted) h[k + 1] = 0;
        const Real scale = 1 / h[k + 1];
        if (!progress.record(H.add())) {
          H.drop();
          break;
        }
        if (progress.breaks_down(exhausted, Breakdown::exhausted)) break;
        subtract_combination(v, k + 1, c.data(), scale, w);  // w = (w - V c) / ||w - V c||
      }
      const auto& y = H.solve();
      for (std::size_t k = 0; k < H.columns(); ++k) c[k] = y[k] - std::exchange(taken[k], y[k]);
      fill(r, 0);
      add_combination(flexible ? z : v, H.columns(), c.data(), r);
      if (!flexible) M.apply(r, z[0]);
      iterate.move(Real(1), flexible ? r : z[0]);  // x += Z y, or M^-1 V y, as far as x does not have that already
    } while (!H.full() && iterate.goes_on());
  }
  return iterate.summary();
}

}  // namespace seidel
