// How often a cycle visits a coarser level, and the visits of a K cycle.
#pragma once
#include <cmath>
#include <limits>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// The visits of each coarser level by the one before it; of the coarsest it is always one.
enum class AmgCycle {
  v,  // one
  w,  // two, the second one for the residual of the first
  k,  // one or two, as iterations of flexible conjugate gradients: such a cycle is not linear
};

/// What they take of each level beside x and b.
template <class V>
struct KrylovVectors {
  V Ax, d, Ad;
};

/// x of A x = b on a level by at most two iterations of flexible conjugate gradients from x = 0, each with one visit,
/// cycle(r, z), z = M^-1 r:
///
///   x = M^-1 b,  x <- (x'b / x'Ax) x;  if ||b - A x|| > ||b|| / 4:  d = M^-1 (b - A x), made A-orthogonal to x,
///   x <- x + (d'(b - A x) / d'A d) d
///
/// In/out  b holds the residual after the first iteration on return. Where a product that must be positive is not, x is what
///         it was before that.
/// Cost    one or two products with A and visits; the host waits for a GPU two or three times.
/// Source  Notay, Vassilevski, Recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15, 2008.
template <class V, LinearOperator<V> Matrix, class Cycle>
void krylov_visits(const Matrix& A, const Cycle& cycle, KrylovVectors<V>& vectors, V& b, V& x) {
  using Real = typename V::Real;
  constexpr Real good_enough = Real(0.25);  // as in the paper
  auto& [Ax, d, Ad] = vectors;
  cycle(b, x);
  A.apply(x, Ax);
  const auto [norm_b, xb, xAx] = sums(norm2_of(b), dot_of(x, b), dot_of(x, Ax));
  if (!(xAx > 0)) return;
  const Real alpha = xb / xAx;
  axpy(-alpha, Ax, b);
  if (!(norm2(b) > good_enough * norm_b)) return axpby(0, x, alpha, x);
  cycle(b, d);
  A.apply(d, Ad);
  const auto [db, dAx, dAd] = sums(dot_of(d, b), dot_of(d, Ax), dot_of(d, Ad));
  const Real rest = dAd - dAx / xAx * dAx;  // d'A d, of d made A-orthogonal to x
  if (!(rest > std::sqrt(std::numeric_limits<Real>::epsilon()) * dAd)) return axpby(0, x, alpha, x);
  const Real beta = db / rest;
  axpby(beta, d, alpha - beta * dAx / xAx, x);
}

}  // namespace seidel
