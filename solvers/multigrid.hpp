// Multigrid as the method itself: cycles, one after the other.
#pragma once
#include <seidel/solvers/iterate.hpp>

namespace seidel {

/// Vectors that multigrid() takes beside x and b.
inline constexpr int multigrid_vectors = iterate_vectors + 3;

/// Solves A x = b by x <- x + M^-1 (b - A x), where M^-1 is a cycle: it converges if the eigenvalues of I - M^-1 A lie
/// within the unit circle, and then as fast as the largest of them to the power of k in k iterations.
///
/// Shapes  A is n x n; b and x have n entries and do not overlap.
/// In/out  x holds the guess on entry; on return the best iterate, within a factor 2 by its residual, whatever the status.
/// Cost    per iteration one product with A, one with M^-1, three passes over vectors; one wait on a GPU; multigrid_vectors
///         vectors, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry. Cycles
///         that diverge are a status.
/// Source  Trottenberg, Oosterlee, Schueller, Multigrid, Academic Press 2001, section 2.4; Saad (2003), section 4.1.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
Summary multigrid(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  Iterate iterate("multigrid", A, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  auto [r, z, Az] = vectors_like<multigrid_vectors - iterate_vectors>(b);
  while (iterate.unsolved(r)) {  // r = b - A x: the truth, not the recurrence
    while (iterate.running()) {
      M.apply(r, z);
      A.apply(z, Az);
      axpy(-1, Az, r);  // r = b - A (x + z)
      if (!progress.record(norm2(r))) break;
      iterate.move(1, z);
    }
  }
  return iterate.summary();
}

}  // namespace seidel
