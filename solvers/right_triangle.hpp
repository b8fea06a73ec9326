// Sides of right triangles. std::hypot is not used: its last bit depends on the C library.
#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace seidel {

/// sqrt(a^2 + b^2), without overflow or underflow of the squares, with an error of at most 2 units in the last place.
template <class Real>
Real hypotenuse(Real a, Real b) {
  a = std::abs(a), b = std::abs(b);
  if (a < b) std::swap(a, b);
  if (!(b > 0) || a > std::numeric_limits<Real>::max()) return a + b;  // nothing to add, or what NaN and infinity give
  const Real ratio = b / a;
  return a * std::sqrt(std::fma(ratio, ratio, Real(1)));
}

/// sqrt(longest^2 - |c|^2), without overflow or underflow of the squares; 0 where rounding makes c the longer one.
template <class Real>
Real leg(Real longest, const Real* c, std::size_t size) {
  if (!(longest > 0)) return longest;  // 0 or NaN
  Real rest = 1;
  for (std::size_t i = 0; i < size; ++i) rest = std::fma(-(c[i] / longest), c[i] / longest, rest);
  return rest > 0 ? longest * std::sqrt(rest) : rest * 0;
}

}  // namespace seidel
