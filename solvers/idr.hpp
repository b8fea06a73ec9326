// Induced dimension reduction.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// Vectors in the shadow space of idr(), the 4 of IDR(4); fewer where A has fewer rows.
inline constexpr int idr_shadows = 4;

/// Vectors that idr() takes beside x and b.
inline constexpr int idr_vectors = iterate_vectors + 3 + 3 * idr_shadows;

/// Solves A x = b for any square A. Preconditioned from the right, so that its residual is that of A x = b.
///
/// All residuals of a cycle are made orthogonal to s fixed vectors P, one after the other; then a step with a new omega
/// takes the residual to a space of s dimensions less. BiCGStab is the same with s = 1.
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry; on return, whatever the status, the best approximation seen, within a factor 2 by
///         its residual.
/// Cost    per iteration one product with A, one with M^-1, and about five passes over s vectors; two waits on a GPU;
///         idr_vectors vectors, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry. A
///         breakdown is a status.
/// Source  Sonneveld, van Gijzen, IDR(s), SIAM J. Sci. Comput. 31(2), 2008; the variant with biorthogonal vectors: van
///         Gijzen, Sonneveld, Algorithm 913, ACM Trans. Math. Softw. 38(1), 2011; its sums in groups: Collignon, van Gijzen,
///         Minimizing synchronization in IDR(s), Numer. Linear Algebra Appl. 18(5), 2011.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary idr(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  Iterate iterate("idr", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  const auto s = std::size_t(std::min<std::int64_t>(idr_shadows, global_size(b)));
  auto P = block_like(b, s), U = block_like(b, s), G = block_like(b, s);  // G = A U
  auto [r, v, z] = vectors_like<3>(b);
  std::vector<Real> PG(s * s), f(s + 1), h(s + 1), c(s);  // PG = P'G, lower triangular; f = P'r
  const auto pg = [&](std::size_t i, std::size_t j) -> Real& { return PG[j * s + i]; };
  for (std::size_t k = 0; k < s; ++k) {
    fill_hashed(P[k], k);
    project(P, k, P[k], h.data());
    subtract_combination(P, k, h.data(), 1, P[k]);
    axpby(0, r, 1 / norm2(P[k]), P[k]);
  }
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    for (std::size_t k = 0; k < s; ++k) {
      fill(U[k], 0);
      fill(G[k], 0);
      for (std::size_t i = 0; i < s; ++i) pg(i, k) = i == k ? Real(1) : Real(0);
    }
    project(P, s, r, f.data());
    Real omega = 1;
    std::size_t k = 0;  // r is orthogonal to the first k vectors of P
    while (iterate.running()) {
      if (k < s) {
        for (std::size_t i = k; i < s; ++i) {  // P'G c = f
          c[i] = f[i];
          for (std::size_t j = k; j < i; ++j) c[i] = std::fma(-pg(i, j), c[j], c[i]);
          c[i] /= pg(i, i);
        }
        std::fill_n(c.begin(), k, Real(0));
        copy(r, v);
        subtract_combination(G, s, c.data(), 1, v);  // v = r - G c, orthogonal to P
        M.apply(v, z);
        for (Real& factor : c) factor /= -omega;
        subtract_combination(U, s, c.data(), omega, z);  // z = omega M^-1 v + U c
        A.apply(z, G[k]);
        const Real norm_g = project(P, s, G[k], h.data());  // made orthogonal to the first k vectors of P:
        for (std::size_t i = 0; i < k; ++i) {
          c[i] = h[i] / pg(i, i);
          for (std::size_t j = i + 1; j < s; ++j) h[j] = std::fma(-c[i], pg(j, i), h[j]);
        }
        subtract_combination(G, k, c.data(), 1, G[k]);
        subtract_combination(U, k, c.data(), 1, z);
        copy(z, U[k]);
        const bool lost = !(std::abs(h[k]) > eps * eps * norm_g);  // or NaN
        if (progress.breaks_down(lost, Breakdown::zero_alpha_divisor)) break;
        std::copy(h.begin() + std::ptrdiff_t(k), h.begin() + std::ptrdiff_t(s), &pg(k, k));
        const Real beta = f[k] / h[k];
        const std::size_t next = k + 1 < s ? k + 1 : 0;
        const auto [norm_r, f_next] = axpy_norm2_dot(-beta, G[k], r, P[next]);
        if (!progress.record(norm_r)) break;
        iterate.move(beta, U[k]);
        for (std::size_t j = ++k; j < s; ++j) f[j] = std::fma(-beta, h[j], f[j]);
        f[next] = f_next;  // as it is: rounding does not add up
      } else {
        M.apply(r, z);
        A.apply(z, v);
        const auto [vr, norm_v] = sums(dot_of(v, r), norm2_of(v));
        if (progress.breaks_down(!(norm_v > 0), Breakdown::zero_omega)) break;  // or NaN
        // The step to the least residual. Where that is short, a longer one, or the next cycle would lose its digits:
        // Sleijpen, van der Vorst, Maintaining convergence properties of BiCGstab methods, Numer. Algorithms 10, 1995.
        const Real norm_r = Real(progress.latest()), cosine = vr / norm_v / norm_r;
        omega = std::copysign(std::max(std::abs(cosine), Real(0.7)), cosine) * (norm_r / norm_v);
        axpy(-omega, v, r);
        if (!progress.record(project(P, s, r, f.data()))) break;
        iterate.move(omega, z);
        k = 0;
      }
    }
  }
  return iterate.summary();
}

}  // namespace seidel
