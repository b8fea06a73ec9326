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

}  // namespace seidel
