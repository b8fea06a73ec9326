// What smooths on the levels of a multigrid method.
#pragma once
#include <seidel/formats/runtime/types.hpp>

#include <vector>

#include <seidel/solvers/smoothers/jacobi.hpp>

namespace seidel {

/// The first three are polynomials in D^-1 A (smoothers/jacobi.hpp).
enum class AmgSmoother {
  automatic,  // jacobi where every row of the finest A is weakly dominated by its diagonal, else chebyshev
  jacobi,     // one sweep, damped by 1.6 / lambda
  chebyshev,  // two sweeps that make Chebyshev's polynomial of the fourth kind
  symgs,      // a pair of Gauss-Seidel sweeps in natural order
};

/// Of the sweeps of a polynomial, each to be divided by lambda. `dominant`: every row of the finest A is so.
inline std::vector<double> dampings_of(AmgSmoother smoother, bool dominant) {
  const bool one = smoother == AmgSmoother::jacobi || (smoother == AmgSmoother::automatic && dominant);
  return one ? std::vector<double>{1.6} : fourth_kind_dampings();
}

}  // namespace seidel
