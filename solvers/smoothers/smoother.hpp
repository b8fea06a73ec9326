// What multigrid asks of a smoother. No base class: any type with these members fits.
#pragma once
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// Reduces the error of x as a solution of A x = b where it oscillates: smooth() from a guess x; smooth_from_zero() does the
/// same from x = 0, which it need not be given. Returns nothing to the host.
template <class S, class V>
concept Smoother = requires(const S& s, const V& b, V& x) {
  s.smooth(b, x);
  s.smooth_from_zero(b, x);
};

/// The same as smooth(), and then r = b - A x. A member of S that does both, where the residual comes cheaply, is used.
template <class V, LinearOperator<V> Matrix, Smoother<V> S>
void smooth_with_residual(const S& s, const Matrix& A, const V& b, V& x, V& r) {
  if constexpr (requires { s.smooth(b, x, r); }) {
    s.smooth(b, x, r);
  } else {
    s.smooth(b, x);
    residual(A, x, b, r);
  }
}

}  // namespace seidel
