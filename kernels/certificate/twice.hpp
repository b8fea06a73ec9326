// Numbers of twice the working precision: unevaluated sums of two floating-point numbers, and the exact operations
// under them.
// Source  Dekker, A floating-point technique for extending the available precision, Numer. Math. 18, 1971;
//         Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of double-word arithmetic,
//         ACM TOMS 44(2), 2017, algorithm 6 (addition, relative error at most 3 u^2 / (1 - 4 u)).
#pragma once
#include <cmath>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// high + low, where high is the sum rounded to Real.
template <class Real>
struct Twice {
  Real high, low;
};

/// a + b exactly.
template <class Real>
SEIDEL_HD Twice<Real> two_sum(Real a, Real b) {
  const Real s = a + b, of_b = s - a, of_a = s - of_b;
  return {s, (a - of_a) + (b - of_b)};
}
/// a + b exactly when |a| >= |b| or a == 0.
template <class Real>
SEIDEL_HD Twice<Real> fast_two_sum(Real a, Real b) {
  const Real s = a + b;
  return {s, b - (s - a)};
}
/// a * b exactly, unless it underflows.
template <class Real>
SEIDEL_HD Twice<Real> two_product(Real a, Real b) {
  const Real p = a * b;
  return {p, std::fma(a, b, -p)};
}

/// Accurate: the relative error is below 4 u^2 even when the operands nearly cancel.
template <class Real>
SEIDEL_HD Twice<Real> operator+(const Twice<Real>& a, const Twice<Real>& b) {
  const Twice<Real> high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
  const Twice<Real> sum = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(sum.high, low.low + sum.low);
}
template <class Real>
SEIDEL_HD Twice<Real> operator-(const Twice<Real>& a) {
  return {-a.high, -a.low};
}

}  // namespace seidel
